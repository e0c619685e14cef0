const { readdirSync, readFileSync } = require('node:fs');

/** The folders of the hub, each importing only those before it. docs/embedded-hub-internals.md says what each is for. */
const HUB_FOLDERS = [
  'json',
  'wire',
  'log',
  'store',
  'schema',
  'scheme',
  'proto',
  'body',
  'patch',
  'apply',
  'validation',
  'auth',
  'write',
  'admission',
  'table',
  'webhooks',
  'policies',
  'request',
  'openapi',
  'discovery',
  'aggregation',
  'watch',
  'rest',
  'cluster',
  'controllers',
  'flow',
  'http',
  'maintenance',
];

const hubOrder = HUB_FOLDERS.map((folder, at) => ({
  name: `hub-${folder}-imports-downward`,
  severity: 'error',
  from: { path: `^packages/embedded-hub/src/${folder}/` },
  to: { path: `^packages/embedded-hub/src/(${[...HUB_FOLDERS.slice(at + 1), '[^/]+\\.ts$'].join('/|')})` },
}));

/** The packages. Each imports only those that its package.json names, and nothing of the product. */
const PACKAGES = readdirSync(`${__dirname}/packages`);

const packageWalls = PACKAGES.map((name) => {
  const manifest = JSON.parse(readFileSync(`${__dirname}/packages/${name}/package.json`, 'utf8'));
  const own = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter((dependency) =>
    dependency.startsWith('@berth/'),
  );
  const allowed = [name, ...own.map((dependency) => dependency.slice('@berth/'.length))];
  return {
    name: `package-${name}-imports-what-it-declares`,
    severity: 'error',
    from: { path: `^packages/${name}/src/` },
    to: { path: '^(packages|src|plugin)/', pathNot: `^packages/(${allowed.join('|')})/src/` },
  };
});

/** Of the packages, what is free of input and output. */
const PURE = [
  '^packages/(kube-cel|kube-jsonpath|ocm|placement|go-template|applicationset)/src/',
  '^packages/runtime/src/((text|lists|json|problem)/|(errors|logger|outcome|sha256)\\.ts$|clock/clock\\.ts$)',
  '^packages/runtime/src/loop/(failing-keys|backoff)\\.ts$',
  '^packages/kube/src/(model|yaml)/',
  '^packages/(addon|agent)/src/rules/',
  '^packages/forge/src/contract/',
];

/** The layers of src, each importing only those before it. CONTRIBUTING.md draws them. */
const LAYERS = ['core', 'ui', 'adapters', 'controllers', 'app'];

const layerOrder = LAYERS.map((layer, at) => ({
  name: `layer-${layer}-imports-downward`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: `^src/(${[...LAYERS.slice(at + 1), '[^/]+\\.ts$'].join('|')})` },
}));

/** Layers import downward; adapters are islands; core imports only what is pure; the plugin is for the app. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-cycles-of-folders',
      scope: 'folder',
      severity: 'error',
      from: { path: '^(src|packages)/' },
      to: { circular: true },
    },
    ...packageWalls,
    {
      name: 'core-is-pure',
      comment: 'core imports nothing but core and what is pure of the packages',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { pathNot: ['^src/core/', ...PURE, '^node_modules/re2js/'] },
    },
    {
      name: 'nobody-imports-the-page',
      comment: 'it is bundled for browsers',
      severity: 'error',
      from: { path: '^src/(?!ui/)' },
      to: { path: '^src/ui/' },
    },
    {
      name: 'adapters-are-islands',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'rendering-is-for-controllers-and-app',
      severity: 'error',
      from: { path: '^(src/(?!controllers/|app/)|plugin)/' },
      to: { path: '^packages/(applicationset|go-template)/' },
    },
    ...layerOrder,
    {
      name: 'layers-are-in-the-order',
      comment: 'a new folder of src gets its place in LAYERS',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${LAYERS.join('|')})/` },
      to: {},
    },
    {
      name: 'nobody-imports-the-app',
      severity: 'error',
      from: { pathNot: '^src/app/' },
      to: { path: '^src/app/' },
    },
    {
      name: 'only-the-app-imports-the-plugin',
      severity: 'error',
      from: { path: '^src/(?!app/)' },
      to: { path: '^plugin/' },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      from: { path: '^(src|plugin|packages/[^/]+/src)/', pathNot: '^(packages/test-kit|src/ui)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    ...hubOrder,
    {
      name: 'hub-folders-are-in-the-order',
      comment: 'a new folder of the hub gets its place in HUB_FOLDERS',
      severity: 'error',
      from: {
        path: '^packages/embedded-hub/src/',
        pathNot: `^packages/embedded-hub/src/((${HUB_FOLDERS.join('|')})/|[^/]+\\.ts$)`,
      },
      to: {},
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
