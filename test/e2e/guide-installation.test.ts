import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

/**
 * The installation guide of Open Cluster Management, sections 1 and 2: each block of commands as it is written there, with `berth` in the
 * place of `clusteradm`. Of its outputs ages, generated names, addresses and versions may differ. The blocks that look at pods have another
 * outcome here: an embedded hub has no nodes, so no pods.
 */
describe.skipIf(!hasKubectl())('the installation guide', () => {
  let shell: GuideShell;
  let token = '';
  let server = '';
  let hash = '';

  beforeAll(async () => {
    shell = await GuideShell.open('cluster1,hosting');
  });
  afterAll(() => shell.close());

  /** The command that `berth init` printed, with what the guide adds to it. */
  const join = (...more: readonly string[]): string =>
    [
      'berth join',
      `--hub-token ${token}`,
      `--hub-apiserver ${server}`,
      '--wait',
      '--cluster-name "cluster1"',
      ...more,
    ].join(' \\\n    ');

  const accept = 'berth accept --clusters cluster1 --context ${CTX_HUB_CLUSTER}';
  const clusters = 'kubectl get managedcluster --context ${CTX_HUB_CLUSTER}';
  const detach = 'berth unjoin --cluster-name "cluster1" --context ${CTX_MANAGED_CLUSTER}';
  const noCluster = 'kubectl delete managedcluster cluster1 --context ${CTX_HUB_CLUSTER}';

  describe('1 - Start the control plane', () => {
    it('calls init, and prints the command that joins', async () => {
      const said = await shell.says('berth init --wait --context ${CTX_HUB_CLUSTER}');
      const command =
        /^ {4}berth join --hub-token (\S+) --hub-apiserver (\S+) --discovery-token-ca-cert-hash (\S+) --wait --cluster-name CLUSTER_NAME$/m.exec(
          said,
        );
      [, token = '', server = '', hash = ''] = command ?? [];
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(server).toBe(shell.hub.url);
      // A second one has nothing to write.
      const again = await shell.says('berth init --wait --context ${CTX_HUB_CLUSTER}');
      expect(again).not.toMatch(/created|changed|runs on this machine/);
    });

    it('gets the command again with get token', async () => {
      const [first = '', please, command] = (
        await shell.says('berth get token --context ${CTX_HUB_CLUSTER}')
      ).split('\n');
      expect(please).toBe('Log on to the cluster and run:');
      const again = first.replace('token=', '');
      expect(command).toBe(
        `berth join --hub-token ${again} --hub-apiserver ${server} --discovery-token-ca-cert-hash ${hash} --wait --cluster-name CLUSTER_NAME`,
      );
      expect(JSON.parse(await shell.says('berth get token -o json'))).toEqual({
        'hub-token': expect.stringMatching(/\./) as string,
        'hub-apiserver': server,
        'discovery-token-ca-cert-hashes': [hash],
      });
    });

    it('shows what runs with hub-info, where the guide looks at pods, and in the ClusterManager', async () => {
      const said = await shell.says('berth get hub-info --context ${CTX_HUB_CLUSTER}');
      expect(said).toMatch(/^Controllers +process \d+ on this machine/m);
      expect(said).toMatch(/^Clusters can join +yes$/m);
      for (const namespace of ['open-cluster-management', 'open-cluster-management-hub'])
        expect(
          (await shell.run(`kubectl -n ${namespace} get pod --context \${CTX_HUB_CLUSTER}`)).stderr,
        ).toContain(`No resources found in ${namespace} namespace.`);
      const manager = () =>
        shell.says('kubectl get clustermanager cluster-manager -o yaml --context ${CTX_HUB_CLUSTER}');
      await expect
        .poll(manager)
        .toMatch(
          /reason: PlacementFunctional\n[^]*reason: RegistrationFunctional|reason: RegistrationFunctional\n[^]*reason: PlacementFunctional/,
        );
      expect(await manager()).toMatch(/reason: ClusterManagerApplied/);
    });
  });

  describe('2 - Register a cluster', () => {
    it('bootstraps a klusterlet, and accepts the join request', async () => {
      const said = await shell.says(join('--context ${CTX_MANAGED_CLUSTER}'));
      expect(said).toMatch(/^ {4}berth accept --clusters cluster1$/m);
      const watch = 'kubectl get csr -w --context ${CTX_HUB_CLUSTER} | grep cluster1';
      expect(await shell.watches(watch, /Pending\n/)).toMatch(
        /^cluster1-\w{5} +\d+s +kubernetes.io\/kube-apiserver-client +system:serviceaccount:open-cluster-management:agent-registration-bootstrap +<none> +Pending$/m,
      );
      expect(await shell.says(accept)).toContain('set hubAcceptsClient to true for managed cluster cluster1');
    });

    it('verifies that the agent runs, which is a process here, and that the ManagedCluster was created', async () => {
      const pods = await shell.run(
        'kubectl -n open-cluster-management-agent get pod --context ${CTX_MANAGED_CLUSTER}',
      );
      expect(pods.stderr).toBe('No resources found in open-cluster-management-agent namespace.\n');
      const columns = /^NAME +HUB ACCEPTED +MANAGED CLUSTER URLS +JOINED +AVAILABLE +AGE\n/;
      await expect
        .poll(() => shell.says(clusters))
        .toMatch(/^cluster1 +true +https:\/\/\S+\/clusters\/cluster1 +True +True +\S+$/m);
      expect(await shell.says(clusters)).toMatch(columns);
    });

    it('applies a ManifestWork', async () => {
      shell.set('MANAGED_CLUSTER_NAME', 'cluster1');
      await shell.says(`cat > manifest-work.yaml <<EOF${MANIFEST_WORK}EOF\n`);
      await shell.says('kubectl apply -f manifest-work.yaml --context ${CTX_HUB_CLUSTER}');
      await expect
        .poll(() =>
          shell.says(
            'kubectl -n ${MANAGED_CLUSTER_NAME} get manifestwork/mw-01 --context ${CTX_HUB_CLUSTER} -o yaml',
          ),
        )
        .toMatch(/reason: ResourceAvailable/);
      await expect
        .poll(() => shell.says('kubectl -n default get pod --context ${CTX_MANAGED_CLUSTER}'))
        .toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\nhello +1\/1 +Running +0 +\d+s$/m);
    });

    it('finds what the troubleshooting asks for', async () => {
      const cluster = await shell.says(
        'kubectl get managedcluster ${MANAGED_CLUSTER_NAME} --context ${CTX_HUB_CLUSTER} -o yaml',
      );
      expect(cluster).toContain('reason: ManagedClusterAvailable');
      expect(
        await shell.says('kubectl get lease -n ${MANAGED_CLUSTER_NAME} --context ${CTX_HUB_CLUSTER}'),
      ).toMatch(/^managed-cluster-lease +managed-cluster-lease/m);
      await expect
        .poll(() => shell.says('kubectl get klusterlet -o yaml --context ${CTX_MANAGED_CLUSTER}'))
        .toMatch(/reason: HubConnectionFunctional/);
    });

    it('joins again with the same command after the cluster was deleted on the hub', async () => {
      await shell.says(noCluster);
      expect(await shell.says(join('--context ${CTX_MANAGED_CLUSTER}'))).toContain(
        'The hub has no cluster cluster1 any more: its agent registers it again',
      );
      await shell.says(accept);
      await expect.poll(() => shell.says(clusters)).toMatch(/^cluster1 +true +https:\S+ +True +True +/m);
      await shell.says('kubectl apply -f manifest-work.yaml --context ${CTX_HUB_CLUSTER}');
      await expect
        .poll(() =>
          shell.says(
            'kubectl -n ${MANAGED_CLUSTER_NAME} get manifestwork/mw-01 --context ${CTX_HUB_CLUSTER} -o yaml',
          ),
        )
        .toMatch(/reason: ResourceAvailable/);
    });

    it('detaches the cluster, but not while works are there, and cleans the hub, but not while it is joined', async () => {
      expect(await shell.run(detach)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('1 of its ManifestWorks are applied on the cluster: mw-01') as string,
      });
      expect(await shell.run('berth clean --context ${CTX_HUB_CLUSTER}')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('cluster1 is joined, expected no cluster') as string,
      });
      await shell.says(noCluster);
      expect(await shell.says(detach)).toContain('The agent of cluster1 is removed');
      expect(await shell.says(detach)).toContain('there is nothing to do');
      const pods = await shell.run(
        'kubectl -n open-cluster-management-agent get pod --context ${CTX_MANAGED_CLUSTER}',
      );
      expect(pods.stderr).toBe('No resources found in open-cluster-management-agent namespace.\n');
      const klusterlet = async (): Promise<string> =>
        (await shell.run('kubectl get klusterlet --context ${CTX_MANAGED_CLUSTER}')).stderr;
      await expect.poll(klusterlet).toMatch(GONE);
    });

    const MANAGED = '--managed-cluster-kubeconfig managed.kubeconfig';
    it.each([
      [
        'in a KinD cluster',
        'cluster1',
        ['--force-internal-endpoint-lookup', '--context ${CTX_MANAGED_CLUSTER}'],
      ],
      ['in singleton mode', 'cluster1', ['--singleton', '--context ${CTX_MANAGED_CLUSTER}']],
      ['in hosted mode', 'hosting', ['--mode hosted', MANAGED, '--context hosting']],
      [
        'in hosted mode with KinD',
        'hosting',
        ['--mode hosted', MANAGED, '--force-internal-endpoint-lookup', '--context hosting'],
      ],
      [
        'in singleton mode with KinD',
        'cluster1',
        ['--singleton', '--force-internal-endpoint-lookup', '--context ${CTX_MANAGED_CLUSTER}'],
      ],
    ])('bootstraps a klusterlet %s', async (_name, place, flags) => {
      await shell.says(
        'kubectl config view --minify --flatten --context ${CTX_MANAGED_CLUSTER} > managed.kubeconfig',
      );
      await shell.says(join(...flags));
      await shell.says(accept);
      await expect.poll(() => shell.says(clusters)).toMatch(/^cluster1 +true +https:\S+ +True +True +/m);
      await shell.says(noCluster);
      await shell.says(`berth unjoin --cluster-name "cluster1" --context ${place}`);
    });
  });

  describe('1 - Uninstall the OCM from the control plane', () => {
    it('cleans the hub', async () => {
      expect(await shell.says('berth clean --context ${CTX_HUB_CLUSTER}')).toContain(
        'The hub is as it was before berth init',
      );
      const pods = await shell.run(
        'kubectl -n open-cluster-management-hub get pod --context ${CTX_HUB_CLUSTER}\nkubectl -n open-cluster-management get pod --context ${CTX_HUB_CLUSTER}',
      );
      expect(pods.stderr).toBe(
        'No resources found in open-cluster-management-hub namespace.\nNo resources found in open-cluster-management namespace.\n',
      );
      const manager = async (): Promise<string> =>
        (await shell.run('kubectl get clustermanager --context ${CTX_HUB_CLUSTER}')).stderr;
      await expect.poll(manager).toMatch(GONE);
      expect(await shell.says('berth clean --context ${CTX_HUB_CLUSTER}')).toContain(
        'there is nothing to do',
      );
      expect((await shell.run('berth get token --context ${CTX_HUB_CLUSTER}')).stderr).toContain(
        'hint: run berth init to prepare the hub',
      );
      expect(shell.logs()).toBe('');
    });

    it.each(['installation 1', 'installation 2'])('has run every command of %s', (section) => {
      expect(notRun(section, shell.ran)).toEqual([]);
    });
  });
});

/** kubectl remembers kinds for ten minutes, and then says the first of these when a kind is gone. */
const GONE = /the server could not find the requested resource|the server doesn't have a resource type/;

const MANIFEST_WORK = `
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: mw-01
  namespace: \${MANAGED_CLUSTER_NAME}
spec:
  workload:
    manifests:
      - apiVersion: v1
        kind: Pod
        metadata:
          name: hello
          namespace: default
        spec:
          containers:
            - name: hello
              image: busybox
              command: ["sh", "-c", 'echo "Hello, Kubernetes!" && sleep 3600']
          restartPolicy: OnFailure
`;
