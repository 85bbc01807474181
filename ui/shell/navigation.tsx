import { addressOf } from '../api/address.ts';
import { logOut, needsKey } from '../api/session.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { hrefOf, path } from '../parts/route.ts';
import { type Theme, theme } from '../parts/theme.ts';

const VIEWS: readonly {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
  readonly also?: RegExp;
}[] = [
  { to: '/', name: 'Gallery', icon: 'gallery', also: /^\/results\// },
  { to: '/capture', name: 'Capture', icon: 'capture' },
  { to: '/scans', name: 'Scans', icon: 'scans' },
  { to: '/compare', name: 'Compare', icon: 'compare' },
  { to: '/watches', name: 'Watches', icon: 'watches', also: /^\/watches\// },
  { to: '/receivers', name: 'Receivers', icon: 'receivers' },
  { to: '/operations', name: 'Operations', icon: 'operations' },
];

const THEMES: readonly (readonly [theme: Theme, icon: IconName])[] = [
  ['system', 'system'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

export function Navigation({ onHelp }: { readonly onHelp: () => void }) {
  const here = path.value;
  return (
    <header class="side">
      <a class="brand" href={hrefOf('/')} aria-label="Capstan: gallery">
        <Logo />
        <span class="label">Capstan</span>
      </a>
      <nav aria-label="Views">
        <ul>
          {VIEWS.map(({ to, name, icon, also }) => (
            <li key={to}>
              <a href={hrefOf(to)} aria-current={here === to || also?.test(here) === true ? 'page' : undefined}>
                <Icon name={icon} size={18} />
                <span class="label">{name}</span>
              </a>
            </li>
          ))}
          <li>
            <a href={addressOf('/docs')} title="The HTTP API, with requests to try">
              <Icon name="book" size={18} />
              <span class="label">API</span>
            </a>
          </li>
        </ul>
      </nav>
      <div class="side-tools">
        <ThemeSwitch />
        <div class="side-buttons">
          <button
            type="button"
            class="button quiet square"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            onClick={onHelp}
          >
            <Icon name="help" />
          </button>
          {needsKey.value === true && (
            <button type="button" class="button quiet" onClick={() => void logOut()}>
              <Icon name="logout" />
              <span class="label">Log out</span>
            </button>
          )}
        </div>
      </div>
    </header>
  );
}

function ThemeSwitch() {
  return (
    <fieldset class="segments" aria-label="Colours">
      {THEMES.map(([name, icon]) => (
        <label key={name} title={`Colours: ${name}`}>
          <input
            type="radio"
            name="theme"
            value={name}
            checked={theme.value === name}
            onChange={() => {
              theme.value = name;
            }}
            aria-label={`Colours: ${name}`}
          />
          <Icon name={icon} size={15} />
        </label>
      ))}
    </fieldset>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <g>
        <circle cx="16" cy="16" r="4.2" />
        <path d="M16 4.5v7.3M16 20.2v7.3M4.5 16h7.3M20.2 16h7.3" />
      </g>
    </svg>
  );
}
