import { describe, expect, it } from 'vitest';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

const KEY = 'a-secret-of-the-operator';

describe('the login', () => {
  const ui = uiForSuite({}, { apiKey: [KEY] });

  it('asks for a key when the service has keys, then shows the requested view', async () => {
    const page = await ui.open('/ui/?host=example.com');
    await page.getByLabel('API key').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('The API key is wrong.').waitFor();
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('No capture matches').waitFor();
    expect(page.url()).toContain('?host=example.com');
  });

  it('does not keep the key in the address, the storage or a readable cookie', async () => {
    const page = await ui.open('/ui/');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('No captures yet').waitFor();
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    );
    expect(kept).not.toContain(KEY);
    expect(asked.join()).not.toContain(KEY);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^capstan_session_\d+$/),
      httpOnly: true,
      sameSite: 'Strict',
    });
    expect(cookie?.value).not.toContain(KEY);
  });

  it('shows the login again after a logout', async () => {
    const page = await ui.open('/ui/');
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open('/ui/');
    await page.getByLabel('API key').waitFor();
    await expectAccessible(page);
  });
});
