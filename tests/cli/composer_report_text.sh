tscope report --full data/composer
