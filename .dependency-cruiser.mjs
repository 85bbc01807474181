import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/*
 * Import boundaries. Each room of src/ says in its boundary.json which other rooms, or files of them, it may import, and
 * why; the rules below hold everywhere.
 */

const rooms = globSync('src/*/boundary.json', { cwd: import.meta.dirname }).map((file) => {
  const { why, mayImport } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  const room = dirname(file);
  return {
    name: room,
    comment: why,
    severity: 'error',
    from: { path: `^${room}/` },
    to: { path: '^src/', pathNot: [`^${room}/`, ...mayImport.map((path) => `^src/${path}`)] },
  };
});

export default {
  forbidden: [
    ...rooms,
    {
      name: 'every-room-has-a-boundary',
      comment: 'A new folder of src/ needs a boundary.json that says what it may import.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: rooms.map(({ name }) => `^${name}/`) },
      to: {},
    },
    {
      name: 'playwright-drives-interaction-only',
      comment: 'Plain captures must not pay for Playwright: src/actors/playwright alone imports it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/actors/playwright/' },
      to: { path: 'playwright', pathNot: '^src/' },
    },
    {
      name: 'nats-in-the-cluster-only',
      comment: 'A process that is the whole service loads no NATS client: src/cluster alone imports it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cluster/' },
      to: { path: '@nats-io' },
    },
    {
      name: 'cluster-is-loaded-on-demand',
      comment: 'src/cluster is imported dynamically; types are erased, so they may be imported by any file.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cluster/' },
      to: { path: '^src/cluster/', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'client-takes-types-alone',
      comment: 'src/client runs in browsers: nothing of the service may come with it.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'page-scripts-run-in-pages-alone',
      comment: 'Scripts of a page are bundled apart. The service takes types from them, and they take types from it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/page-scripts/' },
      to: { path: '^src/page-scripts/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'page-scripts-take-types-alone',
      comment: 'A page has neither Node.js nor zod. How words are compared needs neither.',
      severity: 'error',
      from: { path: '^src/page-scripts/' },
      to: { path: '^src/', pathNot: '^src/(page-scripts|words)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'published-code-is-self-contained',
      comment: 'The package ships src/ without tests, benches, examples, scripts and development dependencies.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|examples|scripts)/' },
    },
    {
      name: 'no-development-dependencies',
      comment:
        'The package is installed without its development dependencies. Types are erased, so they may come from one.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-optional'] },
    },
    {
      name: 'no-cycles',
      comment: 'Files that import each other, even only their types, cannot be read one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-in-storage',
      comment:
        'The folders of storage/ are layers: storage.ts, captures/, the stores, records/, ports/. No arrow climbs.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/storage' },
      to: { circular: true, path: '^src/storage' },
    },
  ],
  options: {
    // TypeScript 7 has no parser for other programs yet.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
  },
};
