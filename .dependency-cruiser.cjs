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
  from: { path: `^src/hub/${folder}/` },
  to: { path: `^src/hub/(${[...HUB_FOLDERS.slice(at + 1), '[^/]+\\.ts$'].join('/|')})` },
}));

/** The layers of src, each importing only those before it. CONTRIBUTING.md draws them. */
const LAYERS = ['core', 'runtime', 'adapters', 'hub', 'render', 'controllers', 'agent', 'app'];

const layerOrder = LAYERS.map((layer, at) => ({
  name: `layer-${layer}-imports-downward`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: `^src/(${[...LAYERS.slice(at + 1), '[^/]+\\.ts$'].join('|')})` },
}));

/** Layers import downward; adapters are islands; core imports only core; the plugin is for the app. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-cycles-of-folders',
      scope: 'folder',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'core-is-pure',
      comment:
        'core imports nothing but core, except the CEL and regular-expression libraries (pure, no I/O)',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { pathNot: ['^src/core/', '^node_modules/(@marcbachmann/cel-js|re2js)/'] },
    },
    {
      name: 'runtime-knows-no-domain',
      severity: 'error',
      from: { path: '^src/runtime/' },
      to: { path: '^(src/(adapters|hub|app|core/(?!errors|ports))|plugin)/' },
    },
    {
      name: 'adapters-are-islands',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'adapters-point-inward',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^(src/(app|hub)|plugin)/' },
    },
    {
      name: 'hub-is-a-house-of-its-own',
      comment:
        "the embedded hub knows nothing of placement: it may use only the Kubernetes words of core/model, OCM's kinds as OpenAPI, and runtime",
      severity: 'error',
      from: { path: '^src/hub/' },
      to: {
        path: '^(src/(app|adapters)/|plugin/|src/core/(?!model/|ocm/|errors|cel/|jsonpath/|ports))',
      },
    },
    {
      name: 'render-imports-only-core',
      severity: 'error',
      from: { path: '^src/render/' },
      to: { path: '^(src|plugin)/', pathNot: '^src/(render|core)/' },
    },
    {
      name: 'the-template-engine-knows-nothing-of-the-project',
      comment: 'src/render/template could be published alone',
      severity: 'error',
      from: { path: '^src/render/template/' },
      to: { path: '^(src|plugin)/', pathNot: '^src/render/template/' },
    },
    {
      name: 'rendering-is-for-controllers-and-app',
      severity: 'error',
      from: { path: '^(src/(?!render/|controllers/|app/)|plugin/)' },
      to: { path: '^src/render/' },
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
      from: { path: '^(src|plugin)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    ...hubOrder,
    {
      name: 'hub-folders-are-in-the-order',
      comment: 'a new folder of the hub gets its place in HUB_FOLDERS',
      severity: 'error',
      from: { path: '^src/hub/', pathNot: `^src/hub/((${HUB_FOLDERS.join('|')})/|[^/]+\\.ts$)` },
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
