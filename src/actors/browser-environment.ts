/** Variables of the service's environment that a browser needs: to be found, to show text, to know its language and zone. */
const INHERITED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TZDIR',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'FONTCONFIG_SYSROOT',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_DIRS',
  'XDG_DATA_HOME',
  'LD_LIBRARY_PATH',
  'CHROME_DEVEL_SANDBOX',
  // Windows, where programs do not start without some of them.
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
 * Returns the environment of a browser: the listed variables of ours and nothing else, because an environment holds the
 * operator's secrets, and code that takes over a browser can read it. Temporary files go where the profile goes.
 */
export function browserEnvironment(
  own: NodeJS.ProcessEnv,
  profileDir: string,
  extra: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => {
    // Windows does not distinguish upper case.
    const known = process.platform === 'win32' ? name.toUpperCase() : name;
    return INHERITED.has(known) || known.startsWith('LC_');
  });
  return { ...Object.fromEntries(inherited), ...extra, TMPDIR: profileDir, TMP: profileDir, TEMP: profileDir };
}
