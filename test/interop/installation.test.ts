import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuideShell } from '../e2e/guide-shell.ts';
import { hasKubectl } from '../e2e/kubectl-program.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

/** `berth init` and `berth join` on a real kube-apiserver: as the hub without OCM, and as the cluster that joins. */
describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS) || !hasKubectl())(
  'installation on a real API server',
  () => {
    let shell: GuideShell;
    let plane: ControlPlane;
    let real: string;
    beforeAll(async () => {
      plane = await startControlPlane();
      real = `--kubeconfig ${plane.kubeconfig}`;
      shell = await GuideShell.open('cluster1');
    });
    afterAll(async () => {
      await shell.close();
      await plane.stop();
    });

    const ticket = async (hub: string): Promise<string> => {
      const text = await shell.says(`berth get token ${hub} -o json`);
      const { 'hub-token': token, 'hub-apiserver': server } = JSON.parse(text) as Record<string, string>;
      return `--hub-token ${token ?? ''} --hub-apiserver ${server ?? ''}`;
    };
    it('lets clusters ask a real hub, with a token of its own', async () => {
      await shell.says(`berth init --wait ${real}`);
      expect(await shell.says(`berth init --wait ${real}`)).not.toMatch(/created|changed/);
      expect(await shell.says(`berth get clustersets ${real}`)).toMatch(
        /^default +No ManagedCluster selected$/m,
      );
      await shell.says(`berth join ${await ticket(real)} --wait --cluster-name edge --context cluster1`);
      const csr = await shell.says(`kubectl get csr ${real} --no-headers`);
      expect(csr).toMatch(/^edge-\w{5} .*:agent-registration-bootstrap +<none> +Pending$/m);
      expect(await shell.says(`berth accept --clusters edge --wait ${real}`)).toMatch(
        /^CSR edge-\w{5} approved$/m,
      );
      // Nobody signs certificates here; that the hub accepts the cluster is the work of the controllers.
      await expect
        .poll(() => shell.says(`kubectl get managedclusters edge -o yaml ${real}`))
        .toContain('reason: HubClusterAdminAccepted');
      expect(await shell.says(`kubectl get managedclusters ${real}`)).toMatch(/^NAME +HUB ACCEPTED +MANAGED/);
    });

    it('registers a real cluster, where the agent has no other rights than those that were written', async () => {
      await shell.says('berth init --wait --context hub');
      await shell.says(`berth join ${await ticket('--context hub')} --wait --cluster-name real ${real}`);
      await shell.says('berth accept --clusters real --wait --context hub');
      await expect
        .poll(() => shell.says('kubectl get managedclusters real --context hub'))
        .toMatch(/^real +true +https:\S+ +True +True +/m);
    });

    it('installs Deployments where there are nodes', async () => {
      const node = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}';
      await shell.says(`echo '${node}' | kubectl apply ${real} -f -`);
      await shell.says(`berth init ${real}`);
      await shell.says(`berth join ${await ticket('--context hub')} --cluster-name real ${real}`);
      expect(await shell.says(`kubectl get deployments -A -o name ${real}`)).toBe(
        'deployment.apps/berth\ndeployment.apps/klusterlet-agent\n',
      );
    });
  },
);
