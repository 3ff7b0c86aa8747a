# Composer leaves both in one folder.
mkdir both
cp data/composer/*.json data/composer_merged.json both
tscope report --full --verbose both | grep 'ranks\|merged\|composer'
