import { CommonOptions } from '../../../parts/common-options.tsx';
import { asNamed, SelectField } from '../../../parts/select.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { withField } from '../../../parts/with-field.ts';
import { COMPARED, type Compared, type Draft } from './watch-draft.ts';

export const INTERVALS = ['1m', '10m', '1h', '6h', '1d', '7d'] as const;

const TIMINGS = [
  ['every', 'Every'],
  ['schedule', 'By a cron pattern'],
] as const;

const COMPARED_NAMES: Readonly<Record<Compared, string>> = {
  visual: 'Screenshot',
  text: 'Text',
  links: 'Links',
  title: 'Title',
  status: 'Status',
  verdict: 'Verdict',
};

interface WatchFieldsProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** Fields of a watch: the page, the times, and what is compared. */
export function WatchFields({ draft, isNew, onChange }: WatchFieldsProps) {
  const { url, timing, every, schedule, timeZone, compare, labels, options } = draft;
  return (
    <section class="panel watch-fields">
      <PageField url={url} isReadOnly={!isNew} onChange={(next) => onChange({ url: next })} />
      <div class="watch-when">
        <SelectField
          label="When"
          value={timing}
          options={TIMINGS}
          onChange={(chosen) => onChange({ timing: chosen })}
        />
        {timing === 'every' ? (
          <SelectField
            label="Interval"
            value={every}
            options={asNamed(new Set([...INTERVALS, every]))}
            onChange={(chosen) => onChange({ every: chosen })}
          />
        ) : (
          <>
            <TextField label="Pattern" value={schedule} onInput={(given) => onChange({ schedule: given })} />
            <TextField label="Time zone" value={timeZone} onInput={(given) => onChange({ timeZone: given })} />
          </>
        )}
      </div>
      <fieldset class="watch-compared">
        <legend>Compare</legend>
        {COMPARED.map((name) => (
          <label key={name} class="option-flag">
            <input
              type="checkbox"
              checked={compare[name] !== undefined && compare[name] !== false}
              onChange={(event) => onChange({ compare: { ...compare, [name]: event.currentTarget.checked } })}
            />
            {COMPARED_NAMES[name]}
          </label>
        ))}
      </fieldset>
      <CommonOptions
        options={options}
        problemOf={() => undefined}
        onChange={(name, value) => onChange({ options: withField(options, name, value) ?? {} })}
      />
      <TextField label="Labels, separated by commas" value={labels} onInput={(given) => onChange({ labels: given })} />
    </section>
  );
}

interface PageFieldProps {
  readonly url: string;
  readonly isReadOnly?: boolean;
  readonly onChange: (url: string) => void;
}

/** The URL of the watched page. */
export function PageField({ url, isReadOnly = false, onChange }: PageFieldProps) {
  return (
    <label class="field">
      <span>Page</span>
      <input
        type="text"
        inputMode="url"
        required
        readOnly={isReadOnly}
        placeholder="https://example.com/"
        value={url}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
