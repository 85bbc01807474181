/*
 * Icons that products bring along, by the SHA-256 of their files in packages of Debian and npm. Icons that most sites
 * replace with their own are left out.
 */

const ICONS: Readonly<Record<string, string>> = {
  '30162b424df7998e5e0adc05b3e22074504698ea81969a5088336653ed4e7c2e': 'Adminer',
  f9102be80297c0529207607be5277b4f90bca89d65988fa1771b91c7894e815f: 'Angular',
  '64a3170a912786e9eece7e347b58f36471cb9d0bc790697b216c61050e6b1f08': 'Apache Tomcat',
  a2cd980030f48a26f0b72ca4eb5dfaa62402f1a2fcc79913dd82e901dfef906a: 'Apache Tomcat',
  '44fb4108c903c5c226eb4b5c96bcdf9e52ea0bf12bdccd8a1619fe7b529c814a': 'Cacti',
  '231bd7f403ef5607d55cf819f6992f8236c9f5be2db9685abc36f0565ff85edd': 'cgit',
  '966d2a27cdfe680c1fe1f98bdc69819755dcf3e5f2835d956da40ded8d661a76': 'Cockpit',
  '3ca2c21f1821782f2b2a29b814b7aa240862014a35fdee54d23a72575fc16ec1': 'DokuWiki',
  '467b9feccbe0d278bd918d989b50c1b956a730dc2dbc7cf4b650840f031a326d': 'Ghost',
  '770ba0cdbeef8afa8edf5c6567ee907a7718338ce24b53046dcea18885850734': 'Icinga Web',
  c2638a89fde3633617ec624088730c1dbe4daf18d4f2e44729ece89df3e60176: 'Jupyter',
  e3d7b23e611172246668523675a107764d13fe65d0110de3d399de851515fe1c: 'Jupyter',
  '455b147590985caa637b5d445f62ffce6762a1566189c722e28418edde7e2698': 'mongo-express',
  '4c302a04ac7755f5976a3236c46ae4680a8b3643aec9298c0741af511121e0ef': 'Munin',
  '57ff1068caf7d83d9c252ae26af5f833290b917945051a90cfc4b42e4e72ac13': 'Nagios',
  c28fdd2a4f31e2dc64f653962286da5c82a4cdfc518b242d32812c624e9a19a4: 'Next.js',
  '303e35293994c1b46ed40f528ddc1ebfeb6a119a4689986d15a3dc529e5ecbff': 'Node-RED',
  '8b3267409f9ea8f2cc4d557e6ea6452b3ee75639928b95be544e777f1db230a6': 'phpLDAPadmin',
  e2905705920b2636309d785c2df3f155d6379b0aa9a44dc7831524505fa2defd: 'phpMyAdmin',
  df2d5e3411607f81ae8820114c3d684ca67854662b5e52e4d9fc04fc8e398a39: 'RabbitMQ',
  '3d10f7da6c603178340081668c4ac5b3ae9743ca9a262ab0fcd312fbb9f48bdd': 'React',
  b4ccacc6603725e20d5a462924eb20a81ed9d2364b367fa9df371c917b24e091: 'Redis Commander',
  '5210ac65f141394a8540d408a9b56ed64c21c6b212cb28144c874f5715be9ed1': 'Redmine',
  '7b30e499996ec4631848d3509d803d9311f5d71999212f2f4c1ca7af8f24eb69': 'Roundcube',
  e5371ac60c9e5809a6c225b971a2acdb611908a933113fc8a78281f9f67a4340: 'SOGo',
  af24ad604dd7b3bcda8f975ab973075f4a2f70a4087944a12f8ef8b63a3e07c2: 'Swagger UI',
  '3ed612f41e050ca5e7000cad6f1cbe7e7da39f65fca99c02e99e6591056e5837': 'Swagger UI',
  '61bc9a161de58248288e6905425d7180f0624c2865007b97d763fdac12043a66': 'Vite',
  db74ab0b78338c1f778f8398c45f4103c99aea0e845a3118a7750b4eeafd3445: 'Vue.js',
  '6bdb369337ac2496761c6f063bffea0aa6a91d4662279c399071a468251f51f0': 'WordPress',
  '22b06a141c425c92951056805f46691c4cd8e7547ed90b8836a282950d4b4be2': 'Zabbix',
};

/** Returns the software whose own icon this is; undefined for any other icon. `sha256`: in lower case. */
export function productOfIcon(sha256: string): string | undefined {
  return Object.hasOwn(ICONS, sha256) ? ICONS[sha256] : undefined;
}
