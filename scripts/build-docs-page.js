import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/*
 * Builds the page of the API's documentation into dist/docs-page/ or a given directory: Swagger UI, from its package,
 * and a script that starts it, because the page's Content Security Policy allows no inline script. Plain JavaScript,
 * like build.js, which runs this file.
 */

const root = join(import.meta.dirname, '..');
const outdir = resolve(process.argv[2] ?? join(root, 'dist/docs-page'));
const swagger = join(root, 'node_modules/swagger-ui-dist');

/**
 * Measured: Swagger UI's script is 392 kB after 0.4 s of CPU. With the maximum, 11, it is 359 kB after 3.3 s, at every
 * `npm ci`.
 */
const BROTLI_QUALITY = 9;

/** Shows the colours that were chosen in the web interface, or those of the system. */
const COLOURS = `const stored = localStorage.getItem('capstan-theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const show = () => {
  const isDark = stored === 'dark' || (stored !== 'light' && system.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
};
show();
system.addEventListener('change', show);
`;

const STYLE = `body { margin: 0; }
.home { max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; font: 500 14px system-ui, sans-serif; }
.home a { color: #4453c8; }
.dark-mode .home a { color: #8e9bff; }
/* Swagger UI's own colours of light pages have too little contrast. */
html:not(.dark-mode) .opblock-post .opblock-summary-method { background: #12683b !important; }
html:not(.dark-mode) .opblock-get .opblock-summary-method { background: #1f5fae !important; }
html:not(.dark-mode) .opblock-delete .opblock-summary-method { background: #b3261e !important; }
html:not(.dark-mode) .opblock-patch .opblock-summary-method { background: #0f6b6b !important; }
html:not(.dark-mode) .version-stamp .version,
html:not(.dark-mode) .version-pragma .version { color: #fff; }
html:not(.dark-mode) .swagger-ui .info .title small { background: #5a5f6d; }
html:not(.dark-mode) .swagger-ui .info .title small.version-stamp { background: #3d6b00; }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: #12683b; color: #12683b; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #12683b; }
html:not(.dark-mode) .swagger-ui .json-schema-2020-12-expand-deep-button { color: #5a5f6d; }
html:not(.dark-mode) .swagger-ui a.link,
html:not(.dark-mode) .swagger-ui .info a { color: #1f5fae; }
.swagger-ui .info { margin: 1.5rem 0; }
.swagger-ui .scheme-container { padding: 1rem 0; }
`;

const START = `window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  persistAuthorization: false,
});
`;

rmSync(outdir, { recursive: true, force: true });
const style = asset('swagger-ui', '.css', readFileSync(join(swagger, 'swagger-ui.css')));
const bundle = asset('swagger-ui', '.js', readFileSync(join(swagger, 'swagger-ui-bundle.js')));
const colours = asset('colours', '.js', Buffer.from(COLOURS));
const ownStyle = asset('page', '.css', Buffer.from(STYLE));
const start = asset('start', '.js', Buffer.from(START));
write(
  'index.html',
  Buffer.from(`<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Capstan API</title>
  <script src="${colours}"></script>
  <link rel="stylesheet" href="${style}">
  <link rel="stylesheet" href="${ownStyle}">
  <header class="home"><a href="ui/">← Web interface</a></header>
  <div id="docs"></div>
  <script src="${bundle}"></script>
  <script src="${start}"></script>
</html>
`),
);
const notices = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];
writeFileSync(
  join(outdir, 'licenses.txt'),
  `swagger-ui-dist\n\n${notices.map((name) => readFileSync(join(swagger, name), 'utf8').trim()).join('\n\n')}\n`,
);

/** Writes a file whose name holds its hash, and returns its path. */
function asset(name, extension, contents) {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8);
  write(`assets/${name}-${hash}${extension}`, contents);
  return `docs/assets/${name}-${hash}${extension}`;
}

function write(name, contents) {
  const path = join(outdir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params }));
}
