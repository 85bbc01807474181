import { createHash } from 'node:crypto';
import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import type { Result } from '../../src/capture/result/result.ts';
import type { CaptureService } from '../../src/service/create-service.ts';
import { putCapture } from '../storage/put-capture.ts';
import { exampleResult } from '../support/example-result.ts';

/** Returns a record that was made `id` seconds after a fixed time. */
export function resultOf(id: number, overrides: Partial<Result> = {}): Result {
  return exampleResult(id, {
    probed_at: new Date(1_800_000_000_000 + id * 1000).toISOString(),
    artifacts: { store: 'here', kinds: ['image', 'html'] },
    ...overrides,
  });
}

export interface KeptCapture {
  readonly result: Result;
  readonly info: ScreenshotInfo;
  readonly image: Buffer;
  readonly html: string;
}

/** Stores files of a capture. The image is arbitrary bytes, because HTTP does not read it. */
export async function keepCapture(
  service: CaptureService,
  id: number,
  overrides: Partial<Result> = {},
): Promise<KeptCapture> {
  const artifacts = { store: await service.artifacts.id(), kinds: ['image', 'html'] as const };
  const result = resultOf(id, { artifacts, ...overrides });
  const image = Buffer.concat([Buffer.from('picture'), createHash('sha512').update(String(id)).digest()]);
  const html = `<!doctype html><title>${id}</title><script>alert(1)</script><p>Grüße`;
  const info = await putCapture(service.artifacts, result, { image, html });
  return { result, info, image, html };
}
