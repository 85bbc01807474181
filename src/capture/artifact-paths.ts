import type { Result } from './result.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/*
 * Records name artifacts by kind. Clients, subscribers and webhook receivers get the paths of the HTTP API, which are
 * added when a result is sent, so that stored records outlive a change of the API.
 */

export function imagePath(id: number): string {
  return `/screenshot/${id}`;
}

export function htmlPath(id: number): string {
  return `/screenshot/${id}?view=html`;
}

/** A result as the API sends it. */
export type SentResult<T extends Result = Result> = Omit<T, 'artifacts'> & {
  /** Path of the image, `''` when there is none. */
  readonly screenshot: string;
  /** Path of the HTML snapshot, `''` when there is none. */
  readonly html: string;
};

export function sentResult<T extends Result>({ artifacts, ...rest }: T): SentResult<T> {
  const kinds = artifacts?.kinds ?? [];
  return {
    ...rest,
    screenshot: kinds.includes('image') ? imagePath(rest.id) : '',
    html: kinds.includes('html') ? htmlPath(rest.id) : '',
  };
}

/** The description of a stored image as the API sends it. */
export type SentScreenshotInfo = ScreenshotInfo & { readonly image: string; readonly html: string };

export function sentInfo(info: ScreenshotInfo): SentScreenshotInfo {
  return { ...info, image: imagePath(info.id), html: htmlPath(info.id) };
}
