tscope report data/composer
