import type { Rule, Sign } from './rule.ts';

/*
 * Signs of software that neither a product's header nor a generator names. Each is one that nothing else has: the name
 * of a cookie or header that is the product's own, a path of its files, the title of its first page.
 */

interface Written {
  /** Header names, each with what its value is like; the first group is the version. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** Names of cookies. */
  readonly cookies?: RegExp;
  readonly scripts?: RegExp;
  readonly titles?: RegExp;
}

const ANY = /^/;

const WRITTEN: Readonly<Record<string, Written>> = {
  Alertmanager: { titles: /^Alertmanager$/ },
  'Amazon CloudFront': { headers: { 'x-amz-cf-id': ANY } },
  'Amazon S3': { headers: { 'x-amz-request-id': ANY } },
  'ASP.NET': {
    headers: { 'x-aspnet-version': /^(\d[\d.]*)/, 'x-aspnetmvc-version': ANY },
    cookies: /^(?:ASP\.NET_SessionId|\.AspNetCore\.)/i,
  },
  Apache: { titles: /^Apache2 (?:Debian|Ubuntu) Default Page/ },
  'Apache Tomcat': { titles: /^Apache Tomcat(?:\/(\d[\d.]*))?/ },
  Caddy: { titles: /^Caddy works!$/ },
  CakePHP: { cookies: /^CAKEPHP$/i },
  Cloudflare: { headers: { 'cf-ray': ANY }, cookies: /^(?:__cf_bm|cf_clearance)$/i },
  CodeIgniter: { cookies: /^ci_session$/i },
  Confluence: { headers: { 'x-confluence-request-time': ANY } },
  DokuWiki: { cookies: /^DokuWiki$/i, scripts: /\/lib\/exe\/js\.php\b/ },
  Drupal: {
    headers: { 'x-drupal-cache': ANY, 'x-drupal-dynamic-cache': ANY },
    scripts: /\/core\/misc\/drupal(?:\.init)?\.js\b/,
  },
  Fastly: { headers: { 'x-fastly-request-id': ANY } },
  Gitea: { cookies: /^i_like_gitea$/i },
  'GitHub Pages': { headers: { 'x-github-request-id': ANY } },
  GitLab: { cookies: /^_gitlab_session$/i },
  Grafana: { cookies: /^grafana_session$/i, titles: /^Grafana$/ },
  Jenkins: { headers: { 'x-jenkins': /^(\d[\d.]*)/ } },
  Jetty: { titles: /^Welcome to Jetty(?: (\d[\d.]*))?(?: on Debian)?$/ },
  Jira: { headers: { 'x-arequestid': ANY }, cookies: /^atlassian\.xsrf\.token$/i },
  Joomla: { scripts: /\/media\/system\/js\/(?:core|caption)(?:\.min)?\.js\b/ },
  Kibana: { headers: { 'kbn-name': ANY, 'kbn-version': /^(\d[\d.]*)/ } },
  Laravel: { cookies: /^laravel_session$/i },
  Magento: {
    cookies: /^(?:mage-cache-storage|mage-messages)$/i,
    scripts: /\/static\/(?:version\d+\/)?frontend\/[^?]*\/mage\//,
  },
  Matomo: { scripts: /\/(?:matomo|piwik)\.js\b/ },
  MediaWiki: { scripts: /\/load\.php\?[^#]*\bmodules=startup\b/ },
  Moodle: { cookies: /^MoodleSession/i },
  Netlify: { headers: { 'x-nf-request-id': ANY } },
  'Next.js': { scripts: /\/_next\/static\// },
  nginx: { titles: /^Welcome to nginx!$/ },
  Nuxt: { scripts: /\/_nuxt\// },
  phpBB: { cookies: /^phpbb\d*_\w+_(?:sid|u|k)$/i },
  phpMyAdmin: { cookies: /^(?:phpMyAdmin(?:_https)?|pma_lang(?:_https)?)$/i, titles: /^phpMyAdmin(?: (\d[\d.]*))?/ },
  Plesk: { headers: { 'x-powered-by-plesk': ANY } },
  PrestaShop: { cookies: /^PrestaShop-/i },
  PHP: { cookies: /^PHPSESSID$/i },
  Prometheus: { titles: /^Prometheus Time Series Collection and Processing Server$/ },
  RabbitMQ: { titles: /^RabbitMQ Management$/ },
  Roundcube: { cookies: /^roundcube_sessid$/i, titles: /^Roundcube Webmail\b/ },
  Shopify: { headers: { 'x-shopify-stage': ANY, 'x-shopid': ANY }, scripts: /\/\/cdn\.shopify\.com\// },
  SquirrelMail: { cookies: /^SQMSESSID$/i, titles: /^SquirrelMail - Login$/ },
  'Swagger UI': { titles: /^Swagger UI$/ },
  Transmission: { titles: /^Transmission Web Interface$/ },
  Varnish: { headers: { 'x-varnish': ANY } },
  Vercel: { headers: { 'x-vercel-id': ANY } },
  Wix: { headers: { 'x-wix-request-id': ANY } },
  WordPress: {
    headers: { link: /rel="https:\/\/api\.w\.org\/"/ },
    cookies: /^wordpress_(?:test_cookie|logged_in_)/i,
    scripts: /\/wp-(?:includes|content)\//,
  },
  Yaws: { titles: /^Test Page for Yaws Installation$/ },
};

/** The rules of the service itself. */
export const RULES: readonly Rule[] = Object.entries(WRITTEN).map(
  ([name, { headers = {}, cookies, scripts, titles }]) => ({
    name,
    headers: Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, [sign(value)]])),
    cookies: cookies === undefined ? [] : [{ name: (text: string) => cookies.exec(text), value: sign(ANY) }],
    scripts: scripts === undefined ? [] : [sign(scripts)],
    titles: titles === undefined ? [] : [sign(titles)],
  }),
);

function sign(pattern: RegExp): Sign {
  return { pattern: (text) => pattern.exec(text), version: '\\1' };
}
