import type { Product } from './products.ts';

/** Names of libraries by the name of their package or file. */
const LIBRARIES: Readonly<Record<string, string>> = {
  ace: 'Ace',
  alpinejs: 'Alpine.js',
  alpine: 'Alpine.js',
  angular: 'AngularJS',
  angularjs: 'AngularJS',
  'angular.js': 'AngularJS',
  aos: 'AOS',
  axios: 'Axios',
  backbone: 'Backbone.js',
  'backbone.js': 'Backbone.js',
  bootstrap: 'Bootstrap',
  'bootstrap.bundle': 'Bootstrap',
  'twitter-bootstrap': 'Bootstrap',
  chart: 'Chart.js',
  'chart.js': 'Chart.js',
  ckeditor: 'CKEditor',
  ckeditor4: 'CKEditor',
  clipboard: 'clipboard.js',
  codemirror: 'CodeMirror',
  cytoscape: 'Cytoscape.js',
  d3: 'D3',
  'datatables.net': 'DataTables',
  'jquery.datatables': 'DataTables',
  dayjs: 'Day.js',
  dojo: 'Dojo',
  dropzone: 'Dropzone',
  echarts: 'ECharts',
  ember: 'Ember.js',
  'ember.js': 'Ember.js',
  'jquery.flexslider': 'FlexSlider',
  'jquery.flot': 'Flot',
  flotcharts: 'Flot',
  fullcalendar: 'FullCalendar',
  gsap: 'GSAP',
  hammer: 'Hammer.js',
  hammerjs: 'Hammer.js',
  handlebars: 'Handlebars',
  highcharts: 'Highcharts',
  highlight: 'highlight.js',
  'highlight.js': 'highlight.js',
  htmx: 'htmx',
  'htmx.org': 'htmx',
  isotope: 'Isotope',
  'isotope-layout': 'Isotope',
  impress: 'impress.js',
  'impress.js': 'impress.js',
  jquery: 'jQuery',
  'jquery-migrate': 'jQuery Migrate',
  'jquery-ui': 'jQuery UI',
  jqueryui: 'jQuery UI',
  'jquery.mobile': 'jQuery Mobile',
  'jquery-mobile': 'jQuery Mobile',
  jstree: 'jsTree',
  knockout: 'Knockout',
  leaflet: 'Leaflet',
  lodash: 'Lodash',
  'lodash.js': 'Lodash',
  mathjax: 'MathJax',
  mermaid: 'Mermaid',
  mithril: 'Mithril',
  modernizr: 'Modernizr',
  moment: 'Moment.js',
  'moment.js': 'Moment.js',
  'moment-with-locales': 'Moment.js',
  mootools: 'MooTools',
  'mootools-core': 'MooTools',
  p5: 'p5.js',
  paper: 'Paper.js',
  phaser: 'Phaser',
  pixi: 'PixiJS',
  'pixi.js': 'PixiJS',
  plotly: 'Plotly',
  'plotly.js': 'Plotly',
  polymer: 'Polymer',
  popper: 'Popper',
  '@popperjs/core': 'Popper',
  'popper.js': 'Popper',
  preact: 'Preact',
  prism: 'Prism',
  prismjs: 'Prism',
  prototype: 'Prototype',
  raphael: 'Raphaël',
  'rapha&euml;l': 'Raphaël',
  'grapha&euml;l': 'gRaphaël',
  react: 'React',
  'react-dom': 'React',
  require: 'RequireJS',
  requirejs: 'RequireJS',
  'require.js': 'RequireJS',
  reveal: 'reveal.js',
  'reveal.js': 'reveal.js',
  riot: 'Riot',
  select2: 'Select2',
  slick: 'Slick',
  'slick-carousel': 'Slick',
  socket: 'Socket.IO',
  'socket.io': 'Socket.IO',
  'socket.io-client': 'Socket.IO',
  summernote: 'Summernote',
  'swagger-ui': 'Swagger UI',
  'swagger-ui-bundle': 'Swagger UI',
  swfobject: 'SWFObject',
  swiper: 'Swiper',
  'swiper-bundle': 'Swiper',
  three: 'Three.js',
  'three.js': 'Three.js',
  tinymce: 'TinyMCE',
  underscore: 'Underscore.js',
  'underscore.js': 'Underscore.js',
  video: 'Video.js',
  'video.js': 'Video.js',
  vue: 'Vue.js',
  zepto: 'Zepto',
  'zepto.js': 'Zepto',
  'lo-dash': 'Lodash',
  'greensock js': 'GSAP',
  'jquery mobile': 'jQuery Mobile',
  'jquery ui': 'jQuery UI',
  'nuxt.js': 'Nuxt',
  zurb: 'Foundation',
  foundation: 'Foundation',
  'foundation-sites': 'Foundation',
};

/** The patterns of versions take time that grows with the square of the length. */
const MAX_PATH_CHARACTERS = 1_000;
const NUMBERS = String.raw`\d+(?:\.\d+){0,3}(?:-(?:alpha|beta|rc)[\w.]*)?`;
/** Networks for libraries, whose paths have the name and the version of a package. */
const PACKAGE = new RegExp(
  `^(?:cdn\\.jsdelivr\\.net/npm|unpkg\\.com|esm\\.sh|cdn\\.skypack\\.dev)/((?:@[\\w.-]+/)?[\\w.-]+)(?:@(${NUMBERS})|[/@?]|$)`,
);
const HOSTED = new RegExp(
  `^(?:cdnjs\\.cloudflare\\.com|ajax\\.googleapis\\.com|ajax\\.aspnetcdn\\.com)/ajax/(?:libs/)?([\\w.-]+)/(${NUMBERS})/`,
);
const NODE_MODULE = /\/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//;
/** Files that are for a library, and are not the library: `adapters/jquery.js`, `mode/vue/vue.js`. */
const FOR_LIBRARY = /\/(?:adapters?|integrations?|bindings?|lang|languages|locales?|i18n|modes?)\/(?:[^/]+\/)?[^/]+$/;
const FILE = /([^/]+)\.m?js$/;
const VERSION_AT_END = new RegExp(`[-.@_]v?(${NUMBERS})$`);
const VERSION_OF_FOLDER = new RegExp(`[/@-]v?(${NUMBERS})/(?:(?:dist|build|js|lib|umd)/)*[^/]+$`);
const VARIANT =
  /[-.](?:min|slim|prod|production|development|dev|global|umd|esm|es|module|full|all|pack|pkgd|browser|debug|core|compat|[0-9a-f]{8,64})$/i;

/** Returns the library that a script's URL names; undefined for any other script. */
export function libraryOf(url: string): Product | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  const { hostname, pathname } = parsed;
  if (pathname.length > MAX_PATH_CHARACTERS) return undefined;
  const place = hostname + pathname;
  const [, name, version = ''] = PACKAGE.exec(place) ?? HOSTED.exec(place) ?? [];
  if (name !== undefined) return { name: libraryNamed(name) ?? name, version };
  const [, module = ''] = NODE_MODULE.exec(pathname) ?? [];
  return libraryOfFile(pathname) ?? (libraryNamed(module) === undefined ? undefined : product(module, ''));
}

function libraryOfFile(path: string): Product | undefined {
  if (FOR_LIBRARY.test(path)) return undefined;
  let [, stem = ''] = FILE.exec(path) ?? [];
  let version = '';
  for (;;) {
    if (libraryNamed(stem) !== undefined) break;
    const [numbered = '', numbers = ''] = VERSION_AT_END.exec(stem) ?? [];
    const [variant = ''] = numbered === '' ? (VARIANT.exec(stem) ?? []) : [];
    const end = numbered === '' ? variant : numbered;
    if (end === '') return undefined;
    if (numbers !== '') version = numbers;
    stem = stem.slice(0, -end.length);
  }
  const [, ofFolder = ''] = VERSION_OF_FOLDER.exec(path) ?? [];
  return product(stem, version === '' ? ofFolder : version);
}

function product(name: string, version: string): Product {
  return { name: libraryNamed(name) ?? name, version };
}

/** Returns the usual name of a library by its other names; undefined for one that is not known. */
export function libraryNamed(name: string): string | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(LIBRARIES, key) ? LIBRARIES[key] : undefined;
}
