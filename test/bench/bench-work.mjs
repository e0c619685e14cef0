/** A ManifestWork of common size: a ConfigMap and a Deployment. */
export const work = (name) => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name, labels: { app: 'bench', tier: 'web' } },
  spec: {
    workload: {
      manifests: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'app' }, data: { text: 'x'.repeat(300) } },
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'app' }, spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'registry.example.com/app:1.2.3', env: [{ name: 'A', value: 'x'.repeat(150) }] }] } } } },
      ],
    },
  },
});

const MIB = 1024 * 1024;
const PART = Buffer.alloc(64 * 1024);

/** Sends so many MiB, as fast as they are read. */
export function sendMebibytes(response, count) {
  let left = (count * MIB) / PART.length;
  const more = () => {
    while (left > 0) {
      left -= 1;
      if (left === 0) response.end(PART);
      else if (!response.write(PART)) return;
    }
  };
  response.on('drain', more);
  more();
}
