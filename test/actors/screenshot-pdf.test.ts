import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

describe('a PDF', () => {
  const ground = siteAndActor();

  const capture = (path: string, overrides: CaptureOptions = {}) =>
    ground.running.actor.capture(captureRequest(ground.site.url(path), { format: 'pdf', ...overrides }), patience);

  it('prints the page on as many sheets as needed, A4 by default, and reports no pixel size', async () => {
    const snapshot = await capture('/picture/sheets?sheets=3');
    expect(snapshot).toMatchObject({
      width: 0,
      height: 0,
      truncated: false,
      cutPhase: null,
      title: 'A page on sheets',
    });
    expect(sheetsOf(snapshot.image)).toEqual([A4, A4, A4]);
  });

  it.each([
    [{ landscape: true }, [842, 595]],
    [{ paper: 'Letter' }, [612, 792]],
    [{ paper: 'A5', margin: 50, scale: 2 }, [419, 595]],
    [{ paper: 'A3', margin: 0, scale: 0.1, landscape: true }, [1190, 842]],
  ] as const)('prints %j on sheets of %j points', async (pdf, [width, height]) => {
    const [sheet] = sheetsOf((await capture('/picture/sheets?sheets=1', { pdf })).image);
    expect(Math.abs(Number(sheet?.[0]) - width)).toBeLessThanOrEqual(1);
    expect(Math.abs(Number(sheet?.[1]) - height)).toBeLessThanOrEqual(1);
  });

  it('leaves out backgrounds on request', async () => {
    const [plain, coloured] = await Promise.all([
      capture('/picture/parts', { pdf: { background: false } }),
      capture('/picture/parts'),
    ]);
    expect(plain.image.byteLength).toBeLessThan(coloured.image.byteLength);
  });

  it('does not show hidden elements', async () => {
    const [hidden, whole] = await Promise.all([
      capture('/picture/sheets?sheets=2', { hide: ['section'] }),
      capture('/picture/sheets?sheets=2'),
    ]);
    // Without text no font is embedded.
    expect(text(whole.image)).toContain('/FontFile2');
    expect(text(hidden.image)).not.toContain('/FontFile2');
    expect(sheetsOf(hidden.image)).toHaveLength(2);
  });

  it('contains the first 200 sheets of a longer page, and is reported as truncated', async () => {
    const [cut, whole] = await Promise.all([
      capture('/picture/sheets?sheets=203'),
      capture('/picture/sheets?sheets=200'),
    ]);
    expect(sheetsOf(cut.image)).toHaveLength(200);
    expect(cut.truncated).toBe(true);
    expect(sheetsOf(whole.image)).toHaveLength(200);
    expect(whole.truncated).toBe(false);
  });

  it('shows what is there of a page that never finishes loading', async () => {
    const snapshot = await capture('/never', { timeoutMs: 6000 });
    expect(snapshot.cutPhase).toBe('load');
    expect(sheetsOf(snapshot.image)).toHaveLength(1);
  });
});

const A4 = [595, 842];

function text(pdf: Uint8Array): string {
  return Buffer.from(pdf).toString('latin1');
}

/** Returns width and height of each sheet, in points. */
function sheetsOf(pdf: Uint8Array): number[][] {
  expect(text(pdf).slice(0, 5)).toBe('%PDF-');
  const boxes = text(pdf).matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g);
  return [...boxes].map(([, width, height]) => [Math.floor(Number(width)), Math.round(Number(height))]);
}
