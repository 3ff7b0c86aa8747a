tscope report --format json data/composer
