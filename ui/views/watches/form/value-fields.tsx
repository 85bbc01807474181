import type { CapturedPage } from '../../../parts/captured-page.ts';
import { SelectField } from '../../../parts/select.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { shownValue } from '../shown-value.ts';
import { textIn } from './text-in.ts';
import { names, TYPES, type ValueDraft } from './value-drafts.ts';

interface ValueFieldsProps {
  readonly values: readonly ValueDraft[];
  /** The value for which a place in the screenshot is chosen. */
  readonly picking: number | undefined;
  readonly canPick: boolean;
  readonly page: CapturedPage | undefined;
  /** The pages of the captures before, newest first. */
  readonly earlier: readonly CapturedPage[];
  /** Values that the shown capture has read, by names; undefined when it was not asked for any. */
  readonly read: Readonly<Record<string, unknown>> | undefined;
  readonly onChange: (values: readonly ValueDraft[]) => void;
  readonly onPick: (at: number | undefined) => void;
  readonly onPoint: (selector: string | undefined) => void;
}

const TYPE_OPTIONS = names(TYPES).map((type) => [type, TYPES[type]] as const);
const SOURCES = [
  ['selector', 'Element'],
  ['metadata', 'Metadata'],
] as const;
const NEW: ValueDraft = { name: '', type: 'money', from: 'selector', where: '', attribute: '' };

/** The values that a watch reads from the page, and what would be read now. */
export function ValueFields({
  values,
  picking,
  canPick,
  page,
  earlier,
  read,
  onChange,
  onPick,
  onPoint,
}: ValueFieldsProps) {
  const change = (at: number, part: Partial<ValueDraft>) =>
    onChange(values.map((each, index) => (index === at ? { ...each, ...part } : each)));
  return (
    <section class="panel watch-values">
      <h2>Values</h2>
      {values.length === 0 && (
        <p class="muted">
          None. Add a price, a stock or a count to be told when it changes, and not when the page does.
        </p>
      )}
      {values.map((value, at) => (
        <fieldset
          key={at}
          class="value-fields"
          aria-label={`Value ${value.name === '' ? at + 1 : value.name}`}
          onMouseEnter={() => value.from === 'selector' && onPoint(value.where)}
          onMouseLeave={() => onPoint(undefined)}
        >
          <TextField
            label="Name"
            required
            placeholder="price"
            value={value.name}
            onInput={(name) => change(at, { name })}
          />
          <SelectField
            label="Read as"
            value={value.type}
            options={TYPE_OPTIONS}
            onChange={(type) => change(at, { type })}
          />
          <SelectField
            label="From"
            value={value.from}
            options={SOURCES}
            onChange={(from) => change(at, { from, where: '' })}
          />
          <TextField
            label={value.from === 'selector' ? 'Selector' : 'Path'}
            className="value-where"
            required={value.type !== 'attribute'}
            placeholder={value.from === 'selector' ? '.price' : 'Product.offers.price'}
            value={value.where}
            onInput={(where) => change(at, { where })}
          />
          {value.type === 'attribute' && value.from === 'selector' && (
            <TextField
              label="Attribute"
              className="value-where"
              required
              value={value.attribute}
              onInput={(attribute) => change(at, { attribute })}
            />
          )}
          <div class="value-buttons">
            {value.from === 'selector' && (
              <button
                type="button"
                class="button"
                aria-pressed={picking === at}
                disabled={!canPick}
                onClick={() => onPick(picking === at ? undefined : at)}
              >
                Point at it
              </button>
            )}
            <button
              type="button"
              class="button quiet"
              aria-label={`Remove the value ${value.name}`}
              onClick={() => onChange(values.filter((_, index) => index !== at))}
            >
              Remove
            </button>
          </div>
          <p class="value-read" role="status">
            <Reading value={value} page={page} read={read} />
          </p>
          <Earlier value={value} earlier={earlier} />
        </fieldset>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => {
          onChange([...values, NEW]);
          if (canPick) onPick(values.length);
        }}
      >
        Add a value
      </button>
    </section>
  );
}

/** The texts of the element that the rule finds in the captures before. */
function Earlier({ value, earlier }: Pick<ValueFieldsProps, 'earlier'> & { readonly value: ValueDraft }) {
  if (value.from === 'metadata' || value.where.trim() === '' || earlier.length === 0) return null;
  const texts = earlier.map((page) => {
    const found = page.matching(value.where) ?? [];
    if (value.type === 'count') return String(found.length);
    return found[0] === undefined ? 'not found' : `“${textIn(found[0])}”`;
  });
  return <p class="value-read muted">In the captures before: {texts.join(', ')}</p>;
}

type ReadingProps = Pick<ValueFieldsProps, 'page' | 'read'> & { readonly value: ValueDraft };

/** Shows the value that the shown capture has read, or the text of the element that the rule finds in it. */
function Reading({ value, page, read }: ReadingProps) {
  if (read !== undefined && Object.hasOwn(read, value.name)) {
    const { value: shown, text } = shownValue(read[value.name]);
    if (shown !== '') {
      return (
        <>
          Reads <b class="number">{shown}</b>{' '}
          {text !== '' && text !== shown && <span class="muted">from “{text}”</span>}
        </>
      );
    }
    return (
      <span class="bad">
        {text === '' ? 'Not found.' : `“${text}” cannot be read as a ${TYPES[value.type].toLowerCase()}.`}
      </span>
    );
  }
  if (value.from === 'metadata' || value.where.trim() === '' || page === undefined) return null;
  const found = page.matching(value.where);
  if (found === undefined) return null;
  if (value.type === 'count') return <>{found.length} in the screenshot</>;
  if (found[0] === undefined) return <span class="bad">Not in the screenshot.</span>;
  return <span class="muted">In the screenshot: “{textIn(found[0])}”</span>;
}
