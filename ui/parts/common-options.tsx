import { DEVICES } from './devices.ts';
import { asNamed, SelectField } from './select.tsx';
import { TextField } from './text-field.tsx';

/** Options with a control at the top of the form, which "Advanced" leaves out. */
export const COMMON = [
  'device',
  'fullPage',
  'darkMode',
  'blockAds',
  'acceptCookieBanners',
  'rejectCookieBanners',
] as const;

const DEVICE_OPTIONS = [['', 'Desktop'] as const, ...asNamed<string>(DEVICES), ['other', 'Another …'] as const];
const BANNERS = [
  ['', 'Leave as they are'],
  ['accept', 'Accept all'],
  ['reject', 'Reject all'],
] as const;

interface CommonOptionsProps {
  readonly options: Readonly<Record<string, unknown>>;
  readonly problemOf: (name: string) => string | undefined;
  readonly onChange: (name: string, value: unknown) => void;
}

/** The options that most captures use: device, full page, colours, cookie banners, advertisements. */
export function CommonOptions({ options, problemOf, onChange }: CommonOptionsProps) {
  const { device } = options;
  const isListed = device === undefined || DEVICES.some((each) => each === device);
  const banners =
    options.acceptCookieBanners === true ? 'accept' : options.rejectCookieBanners === true ? 'reject' : '';
  const answerBanners = (answer: typeof banners) => {
    onChange('acceptCookieBanners', answer === 'accept' || undefined);
    onChange('rejectCookieBanners', answer === 'reject' || undefined);
  };
  const flag = (name: string, label: string) => (
    <label class="option-flag">
      <input
        type="checkbox"
        checked={options[name] === true}
        onChange={(event) => onChange(name, event.currentTarget.checked || undefined)}
      />
      {label}
    </label>
  );
  const problem = problemOf('device');
  return (
    <div class="common-options">
      <SelectField
        label="Device"
        value={isListed ? String(device ?? '') : 'other'}
        options={DEVICE_OPTIONS}
        onChange={(chosen) => onChange('device', chosen === 'other' ? 'Pixel 9' : chosen || undefined)}
      />
      {!isListed && (
        <TextField
          label="Name of the device"
          value={String(device)}
          aria-invalid={problem !== undefined}
          onInput={(given) => onChange('device', given || undefined)}
        />
      )}
      <SelectField label="Cookie banners" value={banners} options={BANNERS} onChange={answerBanners} />
      <div class="common-flags">
        {flag('fullPage', 'Full page')}
        {flag('darkMode', 'Dark')}
        {flag('blockAds', 'Block ads')}
      </div>
      {problem !== undefined && <p class="error-text">Device: {problem}</p>}
    </div>
  );
}
