import { DEFAULT_TIMEZONE } from '../../capture/options/default-visitor.ts';

/** Environment variables that a browser inherits: search paths and fonts. */
const INHERITED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'FONTCONFIG_SYSROOT',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_DIRS',
  'XDG_DATA_HOME',
  'LD_LIBRARY_PATH',
  'CHROME_DEVEL_SANDBOX',
  // Windows programs do not start without some of these.
  'APPDATA',
  'COMSPEC',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
]);

/**
 * Locale and time zone of the browser, whatever those of the operator are. Flags set the language of pages. Without
 * UTF-8, or with a locale that the system lacks, downloads lose the names that are not ASCII.
 */
const PLACE = { LANG: 'C.UTF-8', TZ: DEFAULT_TIMEZONE };

/**
 * Returns the environment of a browser: the listed variables of the service and no others, because the environment
 * holds the operator's secrets and code that takes over a browser can read it. Temporary files are written next to the
 * profile.
 */
export function browserEnvironment(
  own: NodeJS.ProcessEnv,
  profileDir: string,
  extra: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => {
    // Windows ignores the case of names.
    const known = process.platform === 'win32' ? name.toUpperCase() : name;
    return INHERITED.has(known);
  });
  return {
    ...Object.fromEntries(inherited),
    ...PLACE,
    ...extra,
    TMPDIR: profileDir,
    TMP: profileDir,
    TEMP: profileDir,
  };
}
