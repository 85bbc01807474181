import { contentFields } from './content.ts';
import { emulationFields } from './emulation.ts';
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
