import type { CaptureFormat } from '../capture/request.ts';

export function mediaTypeOf(format: CaptureFormat): string {
  return format === 'pdf' ? 'application/pdf' : `image/${format}`;
}
