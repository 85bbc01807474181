import type { Locator } from 'playwright';
import type { SelectorStep } from '../../capture/comparison/selector.ts';
import type { FormFilling } from '../../capture/options/interaction.ts';
import { call } from '../../page/asking/page-scripts.ts';
import { chooseOption, quoted } from './choose-option.ts';
import { askElement, type Located, locateBoth } from './locate.ts';
import type { Patience, Step } from './step.ts';

/** Elements that submit a form when clicked. */
const SENDS = 'button:not([type]), button[type=submit], input[type=submit], input[type=image]';

/** A field does not accept the given value. The message names the accepted values. */
class FieldError extends Error {
  override readonly name = 'FieldError';
}

/** Returns the steps in which a person fills in a form and submits it. */
export function formSteps({ selector = 'form', fields, submit }: FormFilling): Step[] {
  const filling = Object.entries(fields).map(
    ([name, value]): Step => ({
      name: `form.fields.${name}`,
      selector: byName(name),
      takesHidden: true,
      take: async (stage) => fillField(await locateBoth(stage, selector), name, value, stage.patience),
    }),
  );
  const sending: Step = {
    name: 'form.submit',
    selector,
    takesHidden: true,
    take: async (stage) => send(await locateBoth(stage, selector), stage.patience),
  };
  return submit ? [...filling, sending] : filling;
}

async function fillField(form: Located, name: string, value: string | boolean, patience: Patience): Promise<void> {
  const css = byName(name);
  const named = form.locator.locator(css);
  const field = named.first();
  const step: SelectorStep = { css, alternatives: [[{ combinator: '', compound: css }]] };
  switch (await askElement({ ...form, locator: field }, patience, call('kindOfField', form.steps, [step]))) {
    case 'checkbox':
      if (typeof value === 'boolean') return field.setChecked(value, patience);
      return choose(named, value, patience);
    case 'radio':
      if (typeof value === 'string') return choose(named, value, patience);
      throw new FieldError('takes the value of the radio button to choose');
    case 'select':
      if (typeof value !== 'string') throw new FieldError('takes the value or the text of an option');
      return chooseOption(field, value, patience);
    case 'file':
      throw new FieldError('takes a file, which cannot be given');
    default:
      if (typeof value !== 'string') throw new FieldError('takes text');
      return field.fill(value, patience);
  }
}

/** Returns the checkbox or radio button of a group that has the value. */
async function choose(named: Locator, value: string, patience: Patience): Promise<void> {
  const wanted = named.and(named.page().locator(`css=[value=${quoted(value)}]`)).first();
  if ((await wanted.count()) === 0) throw new FieldError('has nothing of that value to choose');
  await wanted.check(patience);
}

/** Clicks the submit button, as a person does. Submits a form without one as the Enter key in a field would. */
async function send(form: Located, patience: Patience): Promise<void> {
  const { locator, steps } = form;
  const button = locator.locator(`css=${SENDS}`).first();
  await locator.waitFor({ state: 'attached', ...patience });
  if ((await button.count()) > 0 && (await button.isVisible())) return button.click(patience);
  const answer = await askElement(form, patience, call('submitForm', steps));
  if (answer !== 'submitted') throw new Error(`the element is ${answer}`);
}

function byName(name: string): string {
  return `[name=${quoted(name)}]`;
}
