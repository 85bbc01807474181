#!/usr/bin/env node
'use strict';

/*
 * Plain JavaScript in a CommonJS folder, so that a runtime far too old for the rest (Node 12) can read it, and say so.
 * Hands over to the sources in a checkout and to dist/ in the published package: Node strips no types under
 * node_modules.
 */

const fs = require('fs');
const path = require('path');
const url = require('url');

const root = path.resolve(fs.realpathSync(__filename), '..', '..');
const needed = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).engines.node.replace(/^>=\s*/, '');

function isOlder(version, than) {
  const have = version.replace(/^v/, '').split('.').map(Number);
  const want = than.split('.').map(Number);
  const at = want.findIndex((part, index) => part !== have[index]);
  return at !== -1 && have[at] < want[at];
}

if (isOlder(process.version, needed)) {
  const line = parseInt(needed, 10);
  console.error(
    `capstan: needs Node.js ${needed} or newer, but this is ${process.version} (${process.execPath}). ` +
      `In a checkout, "npm start" brings its own; else install a newer one from https://nodejs.org, ` +
      `or run: npx --package node@${line} node ${__filename}`,
  );
  process.exit(1);
}

// SQLite inside Node is still called experimental: whoever runs the service can do nothing about it.
const emitWarning = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (!/^SQLite is an experimental feature/.test(String(warning))) emitWarning.call(process, warning, ...rest);
};

const source = path.join(root, 'src', 'main.ts');
const entry = fs.existsSync(source) ? source : path.join(root, 'dist', 'main.js');

import(url.pathToFileURL(entry).href)
  .then((program) => program.main(process.argv.slice(2)))
  .then(
    (code) => process.exit(code),
    (error) => {
      console.error('capstan: cannot be loaded; in a checkout, "npm ci" installs what is missing.', error);
      process.exit(1);
    },
  );
