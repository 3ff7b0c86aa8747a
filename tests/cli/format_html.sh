# What can be read without script: head, verdict, findings. Style, data and script are left out.
tscope trace --format html data/slow_loader.json | sed -n '/<article/,/class="views"/p'
