import { useId } from 'preact/hooks';
import { DEVICES } from './devices.ts';

/** Options with a control at the top of the form, which "Advanced" leaves out. */
export const COMMON = [
  'device',
  'fullPage',
  'darkMode',
  'blockAds',
  'acceptCookieBanners',
  'rejectCookieBanners',
] as const;

interface CommonOptionsProps {
  readonly options: Readonly<Record<string, unknown>>;
  readonly problemOf: (name: string) => string | undefined;
  readonly onChange: (name: string, value: unknown) => void;
}

/** The options that most captures use: device, full page, colours, cookie banners, advertisements. */
export function CommonOptions({ options, problemOf, onChange }: CommonOptionsProps) {
  const id = useId();
  const { device } = options;
  const isListed = device === undefined || DEVICES.some((each) => each === device);
  const banners =
    options.acceptCookieBanners === true ? 'accept' : options.rejectCookieBanners === true ? 'reject' : '';
  const answerBanners = (answer: string) => {
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
      <div class="field">
        <label for={`${id}-device`}>Device</label>
        <select
          id={`${id}-device`}
          value={isListed ? String(device ?? '') : 'other'}
          onChange={({ currentTarget: { value } }) =>
            onChange('device', value === 'other' ? 'Pixel 9' : value || undefined)
          }
        >
          <option value="">Desktop</option>
          {DEVICES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          <option value="other">Another …</option>
        </select>
      </div>
      {!isListed && (
        <label class="field">
          <span>Name of the device</span>
          <input
            type="text"
            value={String(device)}
            aria-invalid={problem !== undefined}
            onInput={(event) => onChange('device', event.currentTarget.value || undefined)}
          />
        </label>
      )}
      <div class="field">
        <label for={`${id}-banners`}>Cookie banners</label>
        <select id={`${id}-banners`} value={banners} onChange={(event) => answerBanners(event.currentTarget.value)}>
          <option value="">Leave as they are</option>
          <option value="accept">Accept all</option>
          <option value="reject">Reject all</option>
        </select>
      </div>
      <div class="common-flags">
        {flag('fullPage', 'Full page')}
        {flag('darkMode', 'Dark')}
        {flag('blockAds', 'Block ads')}
      </div>
      {problem !== undefined && <p class="error-text">Device: {problem}</p>}
    </div>
  );
}
