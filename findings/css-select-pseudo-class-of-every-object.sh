#!/bin/sh
# css-select 7.0.0 takes `:constructor` for a pseudo-class that matches every element.
#
# Expected: an unknown pseudo-class is refused, as `:nonsense` is ("Unknown pseudo-class"), and as browsers refuse both.
# Seen: `:constructor` is found by its name in a plain object, whose prototype has a function of this name; what that
# function returns is truthy for every element.
#
# Exits with 0 while this is so, with 1 when it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts css-select@7.0.0 htmlparser2@10.0.0
cat >probe.js <<'PROBE'
import { selectAll } from 'css-select';
import { parseDocument } from 'htmlparser2';

const page = parseDocument('<p>one</p><p>two</p><b>three</b>');
const found = (selector) => {
  try {
    return selectAll(selector, page).length;
  } catch (error) {
    return error.message;
  }
};
const seen = [found('p'), found('p:nonsense'), found('p:constructor')];
console.log(JSON.stringify(seen));
process.exit(JSON.stringify(seen) === '[2,"Unknown pseudo-class :nonsense",2]' ? 0 : 1);
PROBE
node probe.js
