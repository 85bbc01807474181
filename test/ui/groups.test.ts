import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HostFacts } from '../../src/capture/result/host-facts.ts';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

function facts(version: string, favicon: number, certificate: number): HostFacts {
  return {
    server: `nginx/${version}`,
    powered_by: '',
    content_security_policy: false,
    hsts: false,
    certificate: {
      subject: 'harbour.example',
      names: ['harbour.example'],
      issuer: 'Harbour CA',
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2027-01-01T00:00:00.000Z',
      sha256: String(certificate).repeat(64),
    },
    favicon: { hash: favicon, sha256: 'cd'.repeat(32) },
    cnames: [],
    technologies: [{ name: 'nginx', version, sign: 'header' }],
  };
}

describe('the groups of the gallery', () => {
  const ui = uiForSuite();

  beforeAll(async () => {
    for (let at = 0; at < 12; at += 1) {
      const version = at < 3 ? '1.18.0' : at < 7 ? '' : '1.26.3';
      const host_facts = facts(version, at < 3 ? 42 : -7, at % 5);
      const title = at % 2 === 0 ? 'Even page' : 'Odd <b>page</b>';
      const record = exampleResult(exampleId(at), { title, host: `h${at}.example`, remote_ip: '10.1.2.3', host_facts });
      await ui.app.service.results.insert(record);
    }
  });

  const names = (page: Page) => page.locator('.group-name').allTextContents();

  it('count what the captures have in common, and lead to the captures of a group, by the keyboard too', async () => {
    const page = await ui.open('/ui/');
    await page.getByRole('radio', { name: 'Groups' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('2 groups of 12 captures.').waitFor();
    expect((await names(page)).toSorted()).toEqual(['Even page', 'Odd <b>page</b>']);

    await page.getByRole('combobox', { name: 'Group by' }).selectOption('Technology');
    await page.getByText('nginx 1.18.0').waitFor();
    expect(await names(page)).toEqual(['nginx 1.26.3', 'nginx, version unknown', 'nginx 1.18.0']);
    await page.getByRole('link', { name: /nginx 1\.18\.0/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('technology') === 'nginx/1.18.0/');
    await expect.poll(() => page.locator('.card-link').count()).toBe(3);
    await page.goBack();
    await page.getByRole('link', { name: /version unknown/ }).press('Enter');
    await page.waitForURL((url) => url.searchParams.get('technology') === 'nginx/');
    await expect.poll(() => page.locator('.card-link').count()).toBe(4);
    await page.goBack();
    await page.getByText('5 captures of 5 hosts').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  /** Opens five groups in two columns. */
  async function openInColumns() {
    const page = await ui.open('/ui/?view=groups&by=certificate', { viewport: { width: 700, height: 900 } });
    const groups = page.locator('.group');
    await expect.poll(() => groups.count()).toBe(5);
    const tops = await groups.evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
    expect(tops.map((top) => tops.indexOf(top))).toEqual([0, 0, 2, 2, 4]);
    const focused = () => page.evaluate<string>('document.activeElement.dataset.index ?? "none"');
    return { page, focused };
  }

  it('are moved between by the arrow keys', async () => {
    const { page, focused } = await openInColumns();
    for (const [key, index] of [
      ['ArrowDown', '0'],
      ['ArrowDown', '2'],
      ['ArrowRight', '3'],
      ['ArrowUp', '1'],
      ['ArrowLeft', '0'],
      ['ArrowUp', '0'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(focused).toBe(index);
    }
  });

  it.each(['Alt', 'Control', 'Meta'])('leave arrow keys with %s to the browser', async (modifier) => {
    const { page, focused } = await openInColumns();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('0');
    await page.evaluate("addEventListener('keydown', (event) => { globalThis.prevented = event.defaultPrevented; })");
    await page.keyboard.press(`${modifier}+ArrowRight`);
    expect(await page.evaluate('globalThis.prevented')).toBe(false);
    // The focus has not moved before this.
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toBe('1');
  });

  it('of a favicon lead to all pages that have it', async () => {
    const page = await ui.open('/ui/?view=groups&by=favicon');
    await page.getByText('Favicon of Even page').first().waitFor();
    await page.getByText('3 captures of 3 hosts').click();
    await page.waitForURL((url) => url.searchParams.get('favicon') === '42');
    await expect.poll(() => page.locator('.card-link').count()).toBe(3);
  });

  it('say why captures are in none', async () => {
    const page = await ui.open('/ui/?view=groups&by=perception');
    await page.getByText('12 have no perception hash').waitFor();
  });

  it('are accessible, and fit into narrow windows', async () => {
    const page = await ui.open('/ui/?view=groups&by=certificate&address=10.1.0.0/16');
    await page.getByText('harbour.example, by Harbour CA').first().waitFor();
    await expectAccessible(page);
  });
});
