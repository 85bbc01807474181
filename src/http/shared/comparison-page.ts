import type { Difference } from '../../capture/comparison/comparison.ts';
import { facts, image, timeOf } from './page.ts';
import { captureFacts, imageOf, type ShownCapture } from './shared-capture-page.ts';

/** Returns two captures beside each other, and what differs, as HTML. `drawing`: the path of the marked images. */
export function comparisonBody(
  before: ShownCapture,
  after: ShownCapture,
  { share, regions, text }: Difference,
  drawing: string,
): string {
  const changes = facts([
    ['Changed pixels', `${(share * 100).toFixed(2)} %`],
    ['Regions', String(regions.length)],
    ['Lines', text === null ? undefined : `${text.added} added, ${text.removed} removed`],
  ]);
  return `${changes}
${image(drawing, 'Both captures beside each other, with the regions that differ marked')}
<div class="pair">
${[before, after].map(shown).join('\n')}
</div>`;
}

function shown(capture: ShownCapture): string {
  return `<section><h2>${timeOf(capture.result.probed_at)}</h2>
${imageOf(capture)}
${captureFacts(capture.result, capture.info)}</section>`;
}
