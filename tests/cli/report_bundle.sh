# A tar in a tar, or in a folder, is named and not opened; one that is given is.
tscope --version | grep -q '^libarchive [0-9]' || exit 77
mkdir run outer && cp data/two_steps.json run/rank0.json && tar -cf outer/bundle.tar run
tscope report outer/bundle.tar | sed -n '1,3p'
tar -cf nested.tar outer
tscope report outer
tscope report nested.tar
