import type { ScreenshotSize } from './screenshot-size.ts';

export interface Picture extends ScreenshotSize {
  readonly image: Uint8Array;
  /** True when the page had to be stopped for the screenshot, or when time sufficed for only a part of the page. */
  readonly held: boolean;
}
