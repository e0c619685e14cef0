import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { connect } from 'node:tls';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gatewayHubObjects } from '@berth/access/addon/cluster-gateway';
import { startGateway } from '@berth/access/gateway/run-gateway';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { POD, ROLE, ROLE_BINDING } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { authorityOf, gatewaySecret, startCluster } from '../../packages/access/test/gateway-path.ts';
import { asAccount } from '../../packages/access/test/account-world.ts';
import { accountToken, bind } from '../../packages/access/test/access-world.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { freePort } from './peers/free-port.ts';
import { type PeerProcess, startPeer } from './peers/peer-process.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { itReachesAPod, kubectl, NODES, podOf } from './pod-requests.ts';
import { RealHub } from './peers/real-hub.ts';

const GATEWAY = 'access/cluster-gateway';
const HUB_NAMESPACE = 'open-cluster-management-hub';
const CREDENTIALS = 'open-cluster-management-credentials';
const GATEWAYS = '/apis/cluster.core.oam.dev/v1alpha1/clustergateways';
const ALICE = 'system:serviceaccount:default:alice';
const folder = mkdtempSync(join(tmpdir(), 'berth-gateway-'));

async function frontProxy() {
  const authority = createAuthority('front-proxy-ca', Date.now());
  const signer = new CertificateAuthority(authority);
  const subject = { commonName: 'front-proxy', organizations: [] };
  const pair = await signer.issueClient(subject, Date.now(), 86_400_000);
  const files = { ca: authority.certPem, cert: pair.certPem, key: pair.keyPem };
  const at = (name: keyof typeof files): string => join(folder, `front-proxy-${name}.pem`);
  for (const name of ['ca', 'cert', 'key'] as const) writeFileSync(at(name), files[name]);
  const flags = [
    ...[`--requestheader-client-ca-file=${at('ca')}`, '--requestheader-allowed-names=front-proxy'],
    ...['--requestheader-username-headers=X-Remote-User', '--requestheader-group-headers=X-Remote-Group'],
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ...[`--proxy-client-cert-file=${at('cert')}`, `--proxy-client-key-file=${at('key')}`],
  ];
  return { ...files, flags };
}

/** The Secret of a cluster, as people write it. */
async function secretOf(name: string, api: HttpKubeApi, kubeconfig: string): Promise<KubeObject> {
  const cluster = loadKubeConfig({ file: kubeconfig }).getCurrentCluster();
  const ca = cluster?.caData ?? readFileSync(cluster?.caFile ?? '').toString('base64');
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  const token = await accountToken(api, 'alice');
  return {
    ...{ apiVersion: 'v1', kind: 'Secret' },
    metadata: {
      ...{ namespace: CREDENTIALS, name },
      labels: { 'cluster.core.oam.dev/cluster-credential-type': 'ServiceAccountToken' },
    },
    data: { endpoint: encoded(cluster?.server ?? ''), 'ca.crt': ca, token: encoded(token) },
  };
}

/** With the rights that are installed; and with one to write its Service, because it runs in no pod. */
async function asGateway(hub: RealHub): Promise<HttpKubeApi> {
  for (const object of gatewayHubObjects({ namespace: HUB_NAMESPACE, image: 'unused' })) {
    const found = await hub.api.resolve(object.apiVersion, object.kind);
    if (found !== undefined && object.kind !== 'Deployment')
      await hub.api.apply(found, object, { fieldManager: 'test' });
  }
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { namespace: HUB_NAMESPACE, name: 'writes-service' };
  const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['create', 'patch'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  const account = { namespace: HUB_NAMESPACE, name: 'cluster-gateway' };
  await hub.api.create(ROLE, { apiVersion, kind: 'Role', metadata, rules });
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  await hub.api.create(ROLE_BINDING, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects });
  return (await asAccount(hub.api, account, hub.plane.kubeconfig)).api;
}

/** kubectl, with a kubeconfig whose server has a suffix. */
function kubectlOf(kubeconfig: string, suffix = '') {
  const file = join(folder, `${suffix.replaceAll('/', '-')}.kubeconfig`);
  const text = readFileSync(kubeconfig, 'utf8');
  writeFileSync(file, text.replace(/("?server"?: ?"?https:[^"\s,}]+)/, `$1${suffix}`), { mode: 0o600 });
  const ask = async (...args: string[]) =>
    (await promisify(execFile)(kubectl, ['--kubeconfig', file, ...args])).stdout;
  return { file, ask };
}

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS) || kubectl === '')(
  'kube-apiserver, with ClusterGateways',
  () => {
    const stop = new AbortController();
    const log = new SilentLogger();
    let hub: RealHub;
    let plane: ControlPlane;
    let cluster: HttpKubeApi;
    let own: HttpKubeApi;
    let running: Promise<void>;
    let proxy: Awaited<ReturnType<typeof frontProxy>>;
    beforeAll(async () => {
      proxy = await frontProxy();
      [hub, plane] = await Promise.all([RealHub.start(proxy.flags), startControlPlane()]);
      cluster = new HttpKubeApi({ config: loadKubeConfig({ file: plane.kubeconfig }), clock });
      own = await asGateway(hub);
      await hub.create(await secretOf('managed1', cluster, plane.kubeconfig));
      const started = await startGateway({
        ...{ hub: own, namespace: HUB_NAMESPACE, secretNamespace: CREDENTIALS },
        ...{ listen: { host: '127.0.0.1', port: 0 }, impersonate: false, authorize: false },
        ...{ clock, random: Math.random, log, signal: stop.signal },
      });
      running = started.ended;
      await hub.until(
        async () => (await asHub('get', '--raw', `${GATEWAYS}/managed1/proxy/healthz`)) === 'ok',
      );
    });
    afterAll(async () => {
      stop.abort();
      await running;
      cluster?.close();
      own?.close();
      await Promise.all([hub?.close(), plane?.stop()]);
    });
    const asHub = (...args: string[]) => kubectlOf(hub.plane.kubeconfig).ask(...args);

    it('lists them, and the API is available', async () => {
      expect((await asHub('get', 'clustergateways')).replace(/ +$/gm, '')).toBe(
        'NAME       PROVIDER   CREDENTIAL-TYPE       ENDPOINT-TYPE\n' +
          'managed1              ServiceAccountToken   Const\n',
      );
      const condition = '{.status.conditions[?(@.type=="Available")].status}';
      const service = ['get', 'apiservice', 'v1alpha1.cluster.core.oam.dev', '-o'];
      await hub.until(async () => (await asHub(...service, `jsonpath=${condition}`)) === 'True');
      expect(
        await asHub('get', 'clustergateway', 'managed1', '-o', 'jsonpath={.spec.access.credential}'),
      ).toBe('{"type":"ServiceAccountToken"}');
    });

    it('reaches a kube-apiserver with the kubeconfig of the hub and a suffix', async () => {
      const { ask } = kubectlOf(hub.plane.kubeconfig, `${GATEWAYS}/managed1/proxy`);
      await expect(ask('get', 'ns')).rejects.toThrow(
        `Error from server (Forbidden): namespaces is forbidden: User "${ALICE}" cannot list resource "namespaces" in API group "" at the cluster scope`,
      );
      await bind(cluster, 'cluster-admin', {
        ...{ apiGroup: '', kind: 'ServiceAccount', namespace: 'default', name: 'alice' },
      });
      await hub.until(async () => (await ask('get', 'ns', '-o', 'name')).includes('namespace/default'));
      await ask('create', 'configmap', 'colours', '--from-literal=sky=blue');
      expect(await ask('create', 'configmap', 'not', '--dry-run=server')).toContain('server dry run');
      await expect(ask('get', 'configmap', 'not')).rejects.toThrow('NotFound');
      const watched = ask('wait', '--for=jsonpath={.data.sky}=red', 'configmap/colours', '--timeout=60s');
      await ask('patch', 'configmap', 'colours', '--type=merge', '-p', '{"data":{"sky":"red"}}');
      expect(await watched).toContain('condition met');
      expect(await ask('get', 'configmaps', '-A')).toContain('colours');
      expect(log.entries).toContainEqual(
        expect.objectContaining({
          message: 'request',
          fields: expect.objectContaining({ cluster: 'managed1', user: 'admin', as: ALICE, method: 'PATCH' }),
        }),
      );
    });

    it('lets in whom the hub allows, and passes on who that is', async () => {
      const other = await accountToken(hub.api, 'bob');
      const raw = ['get', '--raw', `${GATEWAYS}/managed1/proxy/version`, '--token', other];
      const { ask } = kubectlOf(hub.plane.kubeconfig);
      const withoutUser = async (...args: string[]) => ask(...args, '--user', '');
      await expect(withoutUser(...raw)).rejects.toThrow('Forbidden');
      await hub.create({
        ...{
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'managed1' },
        },
        rules: [
          {
            apiGroups: ['cluster.core.oam.dev'],
            ...{
              resources: ['clustergateways/proxy'],
              resourceNames: ['managed1'],
              verbs: ['get', 'create'],
            },
          },
        ],
      });
      await bind(hub.api, 'managed1', {
        apiGroup: '',
        kind: 'ServiceAccount',
        namespace: 'default',
        name: 'bob',
      });
      await hub.until(async () => (await withoutUser(...raw)).includes('gitVersion'));
      const whoami = `${GATEWAYS}/managed1/proxy/apis/authentication.k8s.io/v1/selfsubjectreviews?impersonate=true`;
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const file = join(folder, 'review.json');
      writeFileSync(file, JSON.stringify(review));
      const answer = await withoutUser('create', '--raw', whoami, '-f', file, '--token', other);
      expect(JSON.parse(answer)).toMatchObject({
        status: { userInfo: { username: 'cluster:hub:system:serviceaccount:default:bob' } },
      });
    });

    it.each(['SPDY/3.1', 'websocket'])('carries an upgrade to %s as bytes', async (protocol) => {
      const authority = await authorityOf('cluster');
      const { address, asked } = await startCluster(authority);
      const name = `echo-${protocol.slice(0, 4).toLowerCase()}`;
      const secret = gatewaySecret(name, {
        endpoint: address,
        'ca.crt': authority.caPem,
        token: 'of-the-cluster',
      });
      await hub.create({ ...secret, metadata: { ...secret.metadata, namespace: CREDENTIALS } });
      await hub.until(async () => (await asHub('get', 'clustergateways', '-o', 'name')).includes(name));
      const { url, caPem, token } = hub.plane;
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), ca: caPem, ALPNProtocols: ['http/1.1'] });
      onTestFinished(() => void socket.destroy());
      await once(socket, 'secureConnect');
      socket.write(
        `POST ${GATEWAYS}/${name}/proxy/api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nHost: x\r\n` +
          `Authorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
      );
      let text = '';
      socket.on('data', (data: Buffer) => (text += data.toString()));
      // kube-apiserver loses bytes that are sent before its answer.
      await expect.poll(() => text).toMatch(/^HTTP\/1.1 101 [^]*\r\n\r\n$/);
      socket.write('first');
      await expect.poll(() => text).toMatch(/FIRST$/);
      expect(asked[0]?.request.headers.authorization).toBe('Bearer of-the-cluster');
    });

    it.skipIf(!hasPeers(GATEWAY))('answers as cluster-gateway 1.9.1', async () => {
      const port = await freePort();
      await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'vela-system' } });
      const { kubeconfig } = hub.plane;
      const peer: PeerProcess = startPeer(GATEWAY, {
        args: [
          ...[`--kubeconfig=${kubeconfig}`, `--authentication-kubeconfig=${kubeconfig}`],
          ...[
            `--authorization-kubeconfig=${kubeconfig}`,
            '--bind-address=127.0.0.1',
            `--secure-port=${port}`,
          ],
          ...[`--cert-dir=${folder}`, `--secret-namespace=${CREDENTIALS}`],
          '--feature-gates=SecretCache=true,HealthinessCheck=true',
        ],
        logFile: join(folder, 'cluster-gateway.log'),
      });
      const at = async (own: number, path: string) => {
        const call = httpsRequest({
          ...{ host: '127.0.0.1', port: own, path, agent: false, rejectUnauthorized: false },
          ...{ cert: proxy.cert, key: proxy.key },
          headers: {
            ...{ 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
            accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
          },
        }).end();
        const [response] = (await once(call, 'response')) as [IncomingMessage];
        let text = '';
        for await (const part of response) text += String(part);
        return { status: response.statusCode, text };
      };
      const service = JSON.parse(
        await asHub('get', 'apiservice', 'v1alpha1.cluster.core.oam.dev', '-o', 'json'),
      ) as { readonly spec: { readonly service: { readonly port: number } } };
      const ours = (path: string) => at(service.spec.service.port, path);
      const theirs = (path: string) => at(port, path);
      try {
        await peer.until(async () => (await theirs(`${GATEWAYS}/managed1/proxy/healthz`)).text === 'ok');
        const proxied = [
          ...['/healthz', '/api/v1/namespaces/default', '/api/v1/namespaces?limit=1&labelSelector=a%3Db'],
          ...['/api/v1/namespaces/missing', '/metrics-of-nobody', '/version/'],
        ];
        for (const path of proxied) {
          const [one, other] = [`${GATEWAYS}/managed1/proxy${path}`, `${GATEWAYS}/managed1/proxy${path}`];
          const answers = [await ours(one), await theirs(other)].map(({ status, text }) => ({
            // A list tells the version at which it was read.
            ...{ status, text: text.replace(/"resourceVersion":"\d+"/, '') },
          }));
          expect(answers[0]).toEqual(answers[1]);
        }
        for (const path of [GATEWAYS, `${GATEWAYS}/managed1`]) {
          // cluster-gateway lists them in any order.
          const cells = ({ text }: { readonly text: string }) =>
            (JSON.parse(text) as { rows: { cells: string[] }[] }).rows
              .map((row) => row.cells.join(' '))
              .sort();
          expect(cells(await ours(path))).toEqual(cells(await theirs(path)));
        }
        const missing = [await ours(`${GATEWAYS}/none`), await theirs(`${GATEWAYS}/none`)];
        expect(missing.map(({ status }) => status)).toEqual([404, 404]);
        const unknown = `${GATEWAYS}/none/proxy/healthz`;
        expect([(await ours(unknown)).status, (await theirs(unknown)).status]).toEqual([404, 500]);
      } finally {
        await peer.stop();
      }
    });
  },
);

describe.skipIf(NODES === undefined || !hasPeers(...CONTROL_PLANE_PROGRAMS) || kubectl === '')(
  'pods of a cluster with nodes, through the API of the hub',
  () => {
    const stop = new AbortController();
    let hub: RealHub;
    let running: Promise<void>;
    let cluster: HttpKubeApi;
    let through: ReturnType<typeof kubectlOf>;
    beforeAll(async () => {
      const proxy = await frontProxy();
      hub = await RealHub.start(proxy.flags);
      cluster = new HttpKubeApi({ config: loadKubeConfig({ file: NODES ?? '' }), clock });
      await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CREDENTIALS } });
      await hub.create(await secretOf('nodes', cluster, NODES ?? ''));
      const subject = { apiGroup: '', kind: 'ServiceAccount', namespace: 'default', name: 'alice' };
      await bind(cluster, 'cluster-admin', subject);
      const started = await startGateway({
        ...{ hub: hub.api, namespace: HUB_NAMESPACE, secretNamespace: CREDENTIALS },
        ...{ listen: { host: '127.0.0.1', port: 0 }, impersonate: false, authorize: false },
        ...{ clock, random: Math.random, log: new SilentLogger(), signal: stop.signal },
      });
      running = started.ended;
      through = kubectlOf(hub.plane.kubeconfig, `${GATEWAYS}/nodes/proxy`);
      await hub.until(async () => (await through.ask('get', 'nodes', '-o', 'name')).includes('node/'));
      await cluster.create(POD, podOf('gateway'));
      await through.ask('wait', '--for=condition=Ready', 'pod/gateway', '--timeout=120s');
    });
    afterAll(async () => {
      await cluster?.delete(POD, { namespace: 'default', name: 'gateway' });
      stop.abort();
      await running;
      cluster?.close();
      await hub?.close();
    });

    itReachesAPod('gateway', () => through);
  },
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));
