import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { Confinement } from '../../src/actors/launching/confinement.ts';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { callOver, debuggingAddressOf } from '../support/debugging-port.ts';
import { pixelsOf, pngOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const Picture = z.object({ result: z.object({ data: z.string() }) });

describe('the confinement of browsers', () => {
  const REFUSED = 'chromium did not start: [1:1:1122/0:FATAL:zygote_host_impl_linux.cc:128] No usable sandbox!';

  it('loosens the confinement with a warning when a browser reports that its sandbox does not work', () => {
    const warnings: string[] = [];
    const confinement = new Confinement('auto', (text) => warnings.push(text));
    expect(confinement.loosen(confinement.now, REFUSED)).toBe(true);
    expect(confinement.now.sandbox).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('No usable sandbox!')]);
  });

  it('keeps the confinement despite messages that browsers print at every start', () => {
    const confinement = new Confinement('auto', () => undefined);
    const reason =
      'chromium did not start: [1122/011625.253950:WARNING:sandbox/policy/linux/sandbox_linux.cc:405] ' +
      'InitializeSandbox() called with multiple threads in process gpu-process.; no answer within 20000 ms';
    expect(confinement.loosen(confinement.now, reason)).toBe(false);
    expect(confinement.now.sandbox).toBe(true);
  });

  it('keeps the confinement once a browser has started with it, even if later browsers fail to start', () => {
    const confinement = new Confinement('auto', () => undefined);
    const { now } = confinement;
    confinement.works(now);
    expect(confinement.loosen(now, REFUSED)).toBe(false);
    expect(confinement.loosen(now, 'chromium did not start: Permission denied')).toBe(false);
    expect(confinement.now).toBe(now);
  });

  it('determines the confinement once for two launches that fail at the same time', () => {
    const warnings: string[] = [];
    const confinement = new Confinement('auto', (text) => warnings.push(text));
    const { now: tried } = confinement;
    expect(confinement.loosen(tried, REFUSED)).toBe(true);
    expect(confinement.loosen(tried, REFUSED)).toBe(true);
    expect(confinement.now).toEqual({ ...tried, sandbox: false });
    expect(warnings).toHaveLength(1);
  });
});

describe('a confined browser', () => {
  const { site, running } = siteAndActor();

  it('draws text of every generic family as a browser of the same user as the service does', async () => {
    const url = site.url('/font-families');
    const { image } = await running.actor.capture(captureRequest(url), patience);
    const directory = await makeDirectory();
    const executable = await executableFinder(undefined)();
    if (!('path' in executable)) throw new Error(executable.missing);
    const flags = ['--no-sandbox', '--headless', '--hide-scrollbars', `--user-data-dir=${directory}`];
    const byHand = spawn(executable.path, [...flags, '--window-size=1280,720', '--remote-debugging-port=0', url], {
      env: { ...process.env, ...executable.env },
      stdio: 'ignore',
    });
    onTestFinished(() => void byHand.kill());
    const drawn = (await pngOf({ image })).data;
    await expect.poll(async () => (await pixelsOf(await pictureOf(directory))).data.equals(drawn)).toBe(true);
  });
});

/** Takes a picture of the only page of a browser that was started with this profile. */
async function pictureOf(profile: string): Promise<Buffer> {
  const { host } = await debuggingAddressOf(profile);
  const [page] = JSON.parse(await (await fetch(`http://${host}/json/list`)).text());
  const [picture] = await callOver(page.webSocketDebuggerUrl, ['Page.captureScreenshot']);
  return Buffer.from(Picture.parse(picture).result.data, 'base64');
}
