import type { z } from 'zod';
import { contentFields } from './content.ts';
import { emulationFields } from './emulation.ts';
import { optionFacts } from './facts.ts';
import { interactionFields } from './interaction.ts';
import { networkFields } from './network.ts';
import { pdfFields } from './pdf.ts';
import { recordFields } from './record.ts';
import { screenshotFields } from './screenshot.ts';
import { waitFields } from './wait.ts';

/** Capture options by group, in the order of the documentation. */
export const OPTION_GROUPS = {
  screenshot: screenshotFields,
  pdf: pdfFields,
  wait: waitFields,
  emulation: emulationFields,
  network: networkFields,
  content: contentFields,
  interaction: interactionFields,
  record: recordFields,
};

/** Capture options of all groups. */
export const optionFields = {
  ...screenshotFields,
  ...pdfFields,
  ...waitFields,
  ...emulationFields,
  ...networkFields,
  ...contentFields,
  ...interactionFields,
  ...recordFields,
};

const FIELDS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(optionFields));

/** Returns the facts about a capture option; undefined for one without any. */
export function factsOfOption(name: string) {
  const field = FIELDS.get(name);
  return field === undefined ? undefined : optionFacts.get(field);
}
