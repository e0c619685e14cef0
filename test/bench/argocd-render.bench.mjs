// Rendering the Applications of one ApplicationSet.
//   npm run build:modules && node test/bench/argocd-render.bench.mjs [APPLICATIONS=1000] [--write FILE]
// Prints the time of the first rendering and the best and median of those after it, with goTemplate on and off, and of a plain
// JSON copy of the same Applications as a baseline. `--write` writes the ApplicationSet, to give it to Argo CD's own code.
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { generateApplications } from '../../.cache/modules/packages/applicationset/src/generate-applications.js';

const ROUNDS = 15;
const NOTHING = {
  namespace: 'argocd',
  clusters: [],
  configMap: () => undefined,
  secret: () => undefined,
  resources: () => undefined,
  callPlugin: () => {
    throw new Error('nothing asks');
  },
};

const ON = {
  metadata: {
    name: '{{ .cluster | lower }}-web',
    labels: { env: '{{.env}}', region: '{{ .region | trunc 63 }}' },
    annotations: { 'argocd.argoproj.io/sync-wave': '{{ if eq .env "prod" }}1{{ else }}0{{ end }}' },
  },
  spec: {
    project: 'default',
    source: {
      repoURL: 'https://git.example.com/web.git',
      path: 'apps/{{.env}}',
      targetRevision: 'main',
      helm: {
        valueFiles: ['values.yaml', 'values-{{ .region }}.yaml'],
        valuesObject: {
          cluster: '{{ .cluster }}',
          replicas: '{{ add .n 1 }}',
          region: { name: '{{ .region | upper }}' },
        },
      },
    },
    destination: { server: '{{.url}}', namespace: 'web' },
    syncPolicy: { automated: { prune: true }, syncOptions: ['CreateNamespace=true'] },
  },
};
/** The same without functions, for fasttemplate. */
const OFF = JSON.parse(
  JSON.stringify(ON)
    .replace(/\{\{ if .*?end \}\}/g, '{{env}}')
    .replace(/\{\{ ?(?:add )?\.(\w+)[^}]*\}\}/g, '{{$1}}'),
);

function applicationSet(count, goTemplate) {
  const elements = Array.from({ length: count }, (_, index) => ({
    cluster: `cluster-${index}`,
    url: `https://10.0.${index >> 8}.${index & 255}:6443`,
    env: index % 3 ? 'prod' : 'dev',
    region: `eu-west-${index % 4}`,
    ...(goTemplate ? { n: index } : { n: String(index) }),
  }));
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: 'bench', namespace: 'argocd' },
    spec: {
      goTemplate,
      ...(goTemplate ? { goTemplateOptions: ['missingkey=error'] } : {}),
      generators: [{ list: { elements } }],
      template: goTemplate ? ON : OFF,
    },
  };
}

function measure(run) {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  const [first] = times;
  const sorted = times.slice(1).sort((a, b) => a - b);
  const ms = (time) => `${time.toFixed(1)} ms`;
  return `first ${ms(first)}, then best ${ms(sorted[0])}, median ${ms(sorted[sorted.length >> 1])}`;
}

const [count = '1000'] = process.argv.slice(2).filter((arg) => /^\d+$/.test(arg));
const file = process.argv[process.argv.indexOf('--write') + 1];
if (process.argv.includes('--write'))
  writeFileSync(file, JSON.stringify({ id: 'bench', applicationSet: applicationSet(Number(count), true) }));
let applications = [];
for (const goTemplate of [true, false]) {
  const set = applicationSet(Number(count), goTemplate);
  const text = measure(() => {
    const generated = generateApplications(set, NOTHING);
    if (generated.applications?.length !== Number(count)) throw new Error(JSON.stringify(generated).slice(0, 500));
    applications = generated.applications;
  });
  console.log(`${count} Applications, goTemplate ${goTemplate ? 'on' : 'off'}: ${text}`);
}
console.log(`a copy of them through JSON: ${measure(() => JSON.parse(JSON.stringify(applications)))}`);
