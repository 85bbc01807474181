import { describe, expect, it } from 'vitest';
import { Confinement } from '../../src/actors/confinement.ts';

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
