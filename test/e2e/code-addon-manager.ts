import { type AddOnDefinition, bindRole, runAddOnManager, signWithAuthority } from '@berth/addon';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { ADDON_DEPLOYMENT_CONFIG, SECRET } from '@berth/kube/model/kinds';
import { secretTexts } from '@berth/kube/secret-texts';
import { systemClock } from '@berth/runtime/clock/system-clock';

/* A program: the manager of the add-on `hello`, which a test kills. Its argument is the kubeconfig of the hub. */

const NAMESPACE = 'default';
const RBAC = 'rbac.authorization.k8s.io';
const PRE_DELETE = 'addon.open-cluster-management.io/addon-pre-delete';
const AUTHORITY = { namespace: 'open-cluster-management-hub', name: 'agents-ca' };

const hub = new HttpKubeApi({ config: loadKubeConfig({ file: process.argv[2] }), clock: systemClock });

/** With each kind of objects that a manager writes. */
const HELLO: AddOnDefinition = {
  name: 'hello',
  health: 'works',
  installNamespace: NAMESPACE,
  supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
  manifests: async ({ cluster, values }) => {
    const text = `${values['SIZE'] ?? 'no'} ${cluster.metadata.name}`;
    const hook = { namespace: NAMESPACE, name: 'bye', annotations: { [PRE_DELETE]: '' } };
    const containers = [{ name: 'bye', image: 'bye' }];
    const template = { spec: { restartPolicy: 'Never', containers } };
    return [
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: NAMESPACE, name: 'hello' } },
        data: { text },
      },
      { apiVersion: 'batch/v1', kind: 'Job', metadata: hook, spec: { template } },
    ];
  },
  registration: {
    configurations: [
      { type: 'KubeClient' },
      { type: 'CustomSigner', signerName: 'example.com/agents', user: 'hello-agent', groups: ['agents'] },
    ],
    permissions: async (context) => {
      const { SIZE = 'no' } = context.values;
      const metadata = { name: `hello-${context.cluster.metadata.name}-${SIZE}` };
      const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }];
      return [
        ...bindRole(context, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]),
        { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules },
        {
          ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata },
          ...{ roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name } },
          subjects: context.subjects(),
        },
      ];
    },
    sign: async ({ request }) => {
      const secret = await hub.get(SECRET, AUTHORITY);
      if (secret === undefined) throw new Error('there is no authority');
      const { 'tls.crt': certPem = '', 'tls.key': keyPem = '' } = secretTexts(secret);
      return signWithAuthority({ certPem, keyPem }, request);
    },
  },
};

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await runAddOnManager({ hub, addOns: [HELLO], signal: stop.signal });
hub.close();
