import { afterEach, expect, it } from 'vitest';
import { LONG_RUN_MS } from '@berth/test-kit/patience';
import { CLUSTER, Joining } from './joining.ts';

const PATIENT = { timeout: LONG_RUN_MS / 4, interval: 500 };
const CLUSTERS = '/apis/cluster.open-cluster-management.io/v1/managedclusters';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SECRET = '/clusters/cluster1/api/v1/namespaces/default/secrets';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${CLUSTER}/leases`;

/** What the agent writes: its Secret in the cluster, then what the hub has of it. */
const OF_AGENT = [
  `POST ${SECRET}`,
  `PATCH ${SECRET}/hub-kubeconfig-secret`,
  `POST ${CLUSTERS}`,
  `POST ${REQUESTS}`,
  `PATCH ${CLUSTERS}/${CLUSTER}/status`,
  `PUT ${LEASES}/managed-cluster-lease`,
];
const OF_CONTROLLERS = [
  `PATCH ${CLUSTERS}/${CLUSTER}`,
  `PUT ${REQUESTS}/NAME/approval`,
  'POST /api/v1/namespaces',
  `POST ${RBAC}/clusterroles`,
  `POST ${RBAC}/clusterrolebindings`,
  `POST ${RBAC}/namespaces/${CLUSTER}/rolebindings`,
  `PATCH ${CLUSTERS}/${CLUSTER}/status`,
  `POST ${LEASES}`,
];

let joining: Joining;
afterEach(() => joining.close());

it.each([
  ['agent', OF_AGENT],
  ['controllers', OF_CONTROLLERS],
  ['hub', [...OF_AGENT, ...OF_CONTROLLERS]],
] as const)(
  'a cluster joins although kill -9 ends the process at every write: %s',
  async (mortal, wanted) => {
    joining = new Joining();
    const phoenix = await joining.start(mortal);
    const alive = (): unknown => {
      const missing = wanted.filter((write) => !phoenix.deaths().includes(write));
      return { end: phoenix.end, missing };
    };
    await expect.poll(alive, PATIENT).toEqual({ end: undefined, missing: [] });
    await expect.poll(() => joining.conditions(), PATIENT).toEqual(['True', 'True', 'True']);
    expect((await joining.hub.requests(CLUSTER)).length).toBeLessThanOrEqual(2);
  },
);
