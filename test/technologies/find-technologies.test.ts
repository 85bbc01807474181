import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SoftwareSigns } from '../../src/capture/result/host-facts.ts';
import { findTechnologies } from '../../src/technologies/find-technologies.ts';
import { createTechnologies } from '../../src/technologies/technologies.ts';
import { NO_SIGNS } from './no-signs.ts';

async function shown(signs: Partial<SoftwareSigns>): Promise<readonly string[]> {
  const technologies = await findTechnologies({ ...NO_SIGNS, ...signs });
  return technologies.map(({ name, version, sign }) => `${name}${version === '' ? '' : ` ${version}`} (${sign})`);
}

/** Titles of the first pages of products, as their packages in Debian have them. */
const DEFAULT_TITLES = [
  ['Alertmanager', 'Alertmanager'],
  ['Apache', 'Apache2 Debian Default Page: It works'],
  ['Apache Tomcat', 'Apache Tomcat'],
  ['Caddy', 'Caddy works!'],
  ['nginx', 'Welcome to nginx!'],
  ['Prometheus', 'Prometheus Time Series Collection and Processing Server'],
  ['RabbitMQ', 'RabbitMQ Management'],
  ['Transmission', 'Transmission Web Interface'],
  ['Yaws', 'Test Page for Yaws Installation'],
] as const;

describe('the software that is named', () => {
  it.each([
    ['nginx', ['nginx']],
    ['nginx/1.26.3', ['nginx 1.26.3']],
    ['Apache/2.4.57 (Debian) OpenSSL/3.0.15', ['Apache 2.4.57', 'OpenSSL 3.0.15']],
    ['Apache (Debian)', ['Apache']],
    ['Microsoft-IIS/10.0', ['Microsoft-IIS 10.0']],
    ['Werkzeug/3.0.1 Python/3.11.2', ['Werkzeug 3.0.1', 'Python 3.11.2']],
    ['Jetty(9.4.53.v20231009)', ['Jetty 9.4.53.v20231009']],
    ['Oracle HTTP Server', ['Oracle HTTP Server']],
    ['ECS (nyb/1D2E)', ['ECS']],
    ['php/8.2.1, ASP.NET', ['PHP 8.2.1', 'ASP.NET']],
    ['-', []],
    ['<script>alert(1)</script>', []],
    ['10.0.0.1', []],
    ['', []],
  ])('is that of the header %j', async (value, expected) => {
    expect(await shown({ headers: [{ name: 'Server', value }] })).toEqual(expected.map((each) => `${each} (header)`));
  });

  it.each([
    ['WordPress 6.4.2', ['WordPress 6.4.2']],
    ['Joomla! - Open Source Content Management', ['Joomla!']],
    ['Drupal 10 (https://www.drupal.org)', ['Drupal 10']],
    ['Jekyll v4.3.2', ['Jekyll 4.3.2']],
    ['Elementor 3.18.3; features: e_dom_optimization', ['Elementor 3.18.3']],
    ['LibreOffice 7.4.7.2 (Linux)', ['LibreOffice 7.4.7.2']],
    ['jemdoc, see http://jemdoc.jaboc.net/', ['jemdoc']],
    ['TYPO3 CMS', ['TYPO3 CMS']],
    ['https://example.com/', []],
    ['42', []],
    ['', []],
  ])('is that of the generator %j', async (value, expected) => {
    expect(await shown({ metas: [{ name: 'generator', value }] })).toEqual(expected.map((each) => `${each} (meta)`));
  });

  it.each([
    ['https://code.jquery.com/jquery-3.7.1.min.js', 'jQuery 3.7.1'],
    ['https://page.example/js/jquery.js?ver=6.4', 'jQuery'],
    ['https://page.example/lib/jquery/3.6.0/jquery.slim.min.js', 'jQuery 3.6.0'],
    ['https://cdn.jsdelivr.net/npm/bootstrap@5.3.2/dist/js/bootstrap.bundle.min.js', 'Bootstrap 5.3.2'],
    ['https://unpkg.com/vue@3/dist/vue.global.js', 'Vue.js 3'],
    ['https://cdnjs.cloudflare.com/ajax/libs/lodash.js/4.17.21/lodash.min.js', 'Lodash 4.17.21'],
    ['https://page.example/react-dom.production.min.js', 'React'],
    ['https://d3js.org/d3.v7.min.js', 'D3 7'],
    ['https://page.example/assets/leaflet-1b2c3d4e5f.js', 'Leaflet'],
  ])('is that of the script %s', async (url, expected) => {
    expect(await shown({ scripts: [url] })).toEqual([`${expected} (script)`]);
  });

  it.each([
    'https://page.example/jquery.validate.js',
    'https://page.example/app.js',
    'https://page.example/ckeditor/adapters/jquery.js',
    'https://page.example/codemirror/mode/vue/vue.js',
    'data:text/javascript,jquery.js',
    'x',
  ])('is none of the script %s', async (url) => {
    expect(await shown({ scripts: [url] })).toEqual([]);
  });

  it('is not that of an icon that two products bring along, as Alertmanager has that of Prometheus', async () => {
    const favicon = 'd72fc7b0bd1a4c1c4a016dfa4bfd594b2fb65a409575ec8f857864d4bdc658be';
    expect(await shown({ favicon, title: 'Alertmanager' })).toEqual(['Alertmanager (title)']);
  });

  it('is that of a cookie, a header of its own, a path of scripts, and a title', async () => {
    expect(await shown({ cookies: [{ name: 'PHPSESSID', value: 'x' }] })).toEqual(['PHP (cookie)']);
    expect(await shown({ headers: [{ name: 'X-Jenkins', value: '2.426.1' }] })).toEqual(['Jenkins 2.426.1 (header)']);
    expect(await shown({ scripts: ['https://page.example/wp-includes/js/x.js'] })).toEqual(['WordPress (script)']);
    expect(await shown({ title: 'phpMyAdmin 5.2.1' })).toEqual(['phpMyAdmin 5.2.1 (title)']);
    expect(await shown({ title: 'How to install phpMyAdmin' })).toEqual([]);
    expect(await shown({ title: 'Welcome to Jetty 9 on Debian' })).toEqual(['Jetty 9 (title)']);
    for (const [product, title] of DEFAULT_TITLES) expect(await shown({ title })).toEqual([`${product} (title)`]);
  });

  it('is that of the icon that a product brings along, and of no other icon', async () => {
    const icon = await readFile(fileURLToPath(import.meta.resolve('swagger-ui-dist/favicon-32x32.png')));
    const favicon = createHash('sha256').update(icon).digest('hex');
    expect(await shown({ favicon })).toEqual(['Swagger UI (favicon)']);
    expect(await shown({ favicon, title: 'Swagger UI' })).toEqual(['Swagger UI (title)']);
    for (const other of [favicon.replace(/.$/, 'x'), 'constructor', ''])
      expect(await shown({ favicon: other })).toEqual([]);
  });

  it('is listed once, with the version of the first sign that has one', async () => {
    const scripts = ['https://page.example/wp-content/x.js'];
    const metas = [{ name: 'generator', value: 'WordPress 6.4.2' }];
    expect(await shown({ scripts, metas })).toEqual(['WordPress 6.4.2 (meta)']);
    const headers = [
      { name: 'server', value: 'Apache' },
      { name: 'x-powered-by', value: 'Apache/2.4' },
    ];
    expect(await shown({ headers })).toEqual(['Apache 2.4 (header)']);
  });

  it('is that of the companies whose scripts the page loads, but not its own', async () => {
    const { find } = createTechnologies();
    const scripts = ['https://www.google-analytics.com/analytics.js', 'https://page.example/a.js'];
    const named = async (url: string) => (await find({ ...NO_SIGNS, url, scripts })).map(({ name }) => name);
    expect(await named('https://page.example/')).toEqual(['Google Analytics']);
    expect(await named('https://www.google-analytics.com/')).toEqual([]);
  });

  it('takes no longer for hostile signs', async () => {
    const long = 'a/1'.repeat(100_000);
    const signs = {
      headers: [{ name: 'server', value: `${'('.repeat(50_000)}${long}` }],
      metas: [{ name: 'generator', value: ' -'.repeat(50_000) }],
      scripts: [
        `https://page.example/${'-1.1'.repeat(50_000)}.js`,
        `https://page.example/${'/v1'.repeat(50_000)}/jquery.js`,
      ],
      title: 'phpMyAdmin '.repeat(50_000),
    };
    expect((await shown(signs)).length).toBeLessThan(50);
  });
});
