import { UNSEEN } from '../../capture/build-result.ts';
import { ARTIFACT_KINDS, type DetailedResult } from '../../capture/result.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import { portOf, targetOf } from '../../capture/target.ts';

/**
 * Returns the record of a capture of version 0.1 as far as the description of its image tells. Fields that are unknown
 * have the value of a page that was not captured, and the capture is never reused, because its options are unknown.
 */
export function describedRecord({
  id,
  url,
  host,
  title,
  format,
  width,
  height,
  captured_at,
}: ScreenshotInfo): DetailedResult {
  const { parsed } = targetOf(url);
  return {
    id,
    url,
    scheme: parsed.protocol.slice(0, -1),
    host,
    port: portOf(parsed),
    probed_at: captured_at,
    duration_ms: 0,
    format,
    options_digest: '',
    options: {},
    options_withheld: [],
    ...UNSEEN,
    title,
    width,
    height,
    artifacts: { store: null, kinds: ARTIFACT_KINDS },
    evidence: null,
  };
}
