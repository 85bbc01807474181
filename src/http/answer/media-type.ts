import type { CaptureFormat } from '../../capture/options/screenshot.ts';

export function mediaTypeOf(format: CaptureFormat): string {
  return format === 'pdf' ? 'application/pdf' : `image/${format}`;
}
