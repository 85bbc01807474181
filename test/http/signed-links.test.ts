import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { signedTarget } from '../../src/capture/finding/signed-link.ts';
import { capstan } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const OLD = 'the-signing-key-of-last-year-0123456789';
const NEW = 'the-signing-key-of-this-year-9876543210';
const API_KEY = 'an-api-key';

const site = siteForSuite();
const app = serviceForSuite({}, { apiKey: [API_KEY], signingKey: [NEW, OLD] });
const unsigning = serviceForSuite({ browserPath: '/nonexistent/chromium' }, { apiKey: [API_KEY] });

const target = (path = '/short') =>
  `/screenshot?url=${encodeURIComponent(site.url(path))}&viewport=width=200,height=100&format=webp`;
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

async function expectImage(path: string): Promise<void> {
  const response = await app.call(path);
  expect(response.status, path).toBe(200);
  const image = Buffer.from(await response.arrayBuffer());
  expect(await sharp(image).metadata()).toMatchObject({ format: 'webp', width: 200, height: 100 });
}

async function expectRefused(path: string, error: string): Promise<void> {
  const response = await app.call(path);
  expect(response.status, path).toBe(403);
  expect(await response.json()).toMatchObject({ code: 'link_refused', error: expect.stringContaining(error) });
}

describe('signed links', () => {
  it('captures without an API key for a signed link, but not for an unsigned one', async () => {
    await expectImage(signedTarget(target(), inAnHour(), NEW));
    expect((await app.call(target())).status).toBe(401);
    const keyed = await app.call(target(), { headers: { 'X-API-Key': API_KEY } });
    expect(keyed.headers.get('Content-Type')).toBe('image/webp');
  });

  it('accepts a link that was signed with any of the signing keys, and no other', async () => {
    await expectImage(signedTarget(target(), inAnHour(), OLD));
    await expectRefused(signedTarget(target(), inAnHour(), 'another-key-of-more-than-32-characters'), 'not known');
  });

  it('refuses a link with any byte changed', async () => {
    const link = signedTarget(target(), inAnHour(), NEW);
    const other = (character: string) => (character === '1' ? '2' : '1');
    const signatureAt = link.indexOf('&signature=');
    for (let at = link.indexOf('?') + 1; at < link.length; at += 1) {
      const { status } = await app.call(`${link.slice(0, at)}${other(link[at] ?? '')}${link.slice(at + 1)}`);
      // Without the name of the signature parameter, the link counts as unsigned.
      const isName = at >= signatureAt && at < link.length - 64;
      expect(isName ? [401, 403] : [403], `changed at ${at}`).toContain(status);
    }
    await expectRefused(`${link}&quality=1`, 'ends with');
    await expectRefused(link.replace('&signature', '&quality=1&signature'), 'ends with');
    await expectRefused(link.replace(/expires=\d+&/, ''), 'ends with');
  });

  it('refuses an expired link, and names the time', async () => {
    await expectRefused(signedTarget(target(), 1_700_000_000, NEW), '2023-11-14T22:13:20.000Z');
  });

  it('accepts signatures for GET /screenshot only', async () => {
    for (const path of ['/results', '/screenshots', '/screenshot/1', '/stats']) {
      expect((await app.call(signedTarget(`${path}?url=x`, inAnHour(), NEW))).status, path).toBe(401);
    }
    const link = signedTarget(target(), inAnHour(), NEW);
    expect((await app.call(link, { method: 'POST' })).status).toBe(401);
  });

  it('refuses signed links without signing keys, even with a valid API key', async () => {
    const link = signedTarget(target(), inAnHour(), NEW);
    const response = await unsigning.call(link, { headers: { 'X-API-Key': API_KEY } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      code: 'link_refused',
      error: expect.stringContaining('--signing-key'),
    });
  });
});

describe('the recipe of signed links', () => {
  it.each([
    [process.execPath, 'sign-link.ts'],
    ['python3', 'sign-link.py'],
    ['sh', 'sign-link.sh'],
  ])('produces an accepted link with %s %s', async (program, file) => {
    const { stdout } = await promisify(execFile)(program, [join(EXAMPLES, file), target()], {
      env: { ...process.env, CAPSTAN_SIGNING_KEY: NEW },
    });
    await expectImage(stdout.trim());
  });
});

describe('capstan sign', () => {
  const env = { CAPSTAN_SIGNING_KEY: NEW };

  it('prints a link that the service accepts until it expires', async () => {
    const { code, stdout } = await capstan(['sign', `${app.baseUrl}${target()}#top`, '--expires', '5m'], { env });
    expect(code).toBe(0);
    const link = new URL(stdout.trim());
    expect(link.origin).toBe(app.baseUrl);
    await expectImage(`${link.pathname}${link.search}`);
    const seconds = Number(link.searchParams.get('expires')) - Date.now() / 1000;
    expect(Math.abs(seconds - 300)).toBeLessThan(120);
  });

  it('signs a path, with blanks encoded as URL parsers do', async () => {
    const { stdout } = await capstan(['sign', `${target()}&hide=h1, p`], { env });
    expect(stdout).toMatch(/^\/screenshot\?.*hide=h1,%20p&expires=\d+&signature=[0-9a-f]{64}\n$/);
    await expectImage(stdout.trim());
  });

  it.each([
    [['https://example.com/'], 'sign takes a link to GET /screenshot'],
    [['/screenshot?fullPage'], 'sign takes a link to GET /screenshot'],
    [['/screenshot?url=x&expires=1'], 'without expires and signature'],
    [['/screenshot?url=x', '--expires', '1y'], '--expires takes a time'],
    [['/screenshot?url=x', '--expires', '0s'], '--expires takes a time'],
    [['/screenshot?url=x', '--signing-key', 'short'], 'at least 32'],
  ])('refuses %j with one line and exit code 2', async (args, line) => {
    const { code, stdout, stderr } = await capstan(['sign', ...args], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr).not.toContain(NEW);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses to sign without a signing key', async () => {
    const { code, stderr } = await capstan(['sign', '/screenshot?url=x']);
    expect(code).toBe(2);
    expect(stderr).toContain('--signing-key');
  });
});
