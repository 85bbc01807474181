import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HostFacts } from '../../src/capture/result/host-facts.ts';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

function facts(version: string, favicon: number): HostFacts {
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
      sha256: 'ab'.repeat(32),
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
      const host_facts = at < 3 ? facts('1.18.0', 42) : facts('1.26.3', -7);
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
    expect(await names(page)).toEqual(['nginx 1.26.3', 'nginx 1.18.0']);
    await page.getByText('9 captures of 9 hosts').waitFor();
    await page.getByRole('link', { name: /nginx 1\.18\.0/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('technology') === 'nginx/1.18.0');
    await expect.poll(() => page.locator('.card-link').count()).toBe(3);
    await page.goBack();
    await page.getByText('9 captures of 9 hosts').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('are moved between by the arrow keys', async () => {
    const page = await ui.open('/ui/?view=groups&by=technology');
    await page.getByText('nginx 1.18.0').waitFor();
    const focused = () => page.evaluate<string>('document.activeElement.dataset.place ?? "none"');
    for (const [key, place] of [
      ['ArrowDown', 'nginx/1.26.3'],
      ['ArrowRight', 'nginx/1.18.0'],
      ['ArrowRight', 'nginx/1.18.0'],
      ['ArrowUp', 'nginx/1.26.3'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(focused).toBe(place);
    }
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
    await page.getByText('harbour.example, by Harbour CA').waitFor();
    await expectAccessible(page);
  });
});
