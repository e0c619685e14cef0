import { APPLICATION } from '../../../core/argocd/argocd-kinds.ts';
import {
  type KnownSecret,
  newSecret,
  ownerOf,
  secretPatch,
} from '../../../core/argocd/cluster-secrets/cluster-secret.ts';
import type { RegistrationOutcome } from '../../../core/argocd/cluster-secrets/gitops-cluster.ts';
import {
  assignClusters,
  type ClusterSecretsInput,
  planRemoval,
  planSecret,
  type Registration,
} from '../../../core/argocd/cluster-secrets/plan-cluster-secrets.ts';
import { ConflictError, errorText } from '@berth/runtime/errors';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { formatNameList } from '@berth/runtime/text/name-list';
import { PRUNE_ANNOTATION } from '../../../core/sync/applied/departure.ts';
import { sha256 } from '@berth/runtime/sha256';
import { confirmTakesWork } from '../../inventory/cluster-namespaces.ts';
import type { CredentialReader } from './credential-reader.ts';

export interface SecretWritten {
  readonly action: 'created' | 'updated' | 'deleted';
  readonly cluster: string;
  /** `namespace/name` */
  readonly secret: string;
  /** The GitOpsCluster, `namespace/name`. */
  readonly gitOpsCluster: string;
}

export interface PassOptions {
  readonly hub: KubeApi;
  readonly argocdNamespace: string;
  readonly credentials: CredentialReader;
  readonly onWrite?: ((event: SecretWritten) => void) | undefined;
}

export interface PassResult {
  /** By the key of the GitOpsCluster. Includes deleted ones that still have Secrets. */
  readonly outcomes: ReadonlyMap<string, RegistrationOutcome>;
  /** A failure that may succeed on the next pass. */
  readonly mayWorkLater: boolean;
  /** Some Secrets must stay until their Applications are gone. */
  readonly isWaiting: boolean;
}

/** Registrations processed at the same time. */
const CONCURRENCY = 8;
const FIELD_MANAGER = 'berth-argocd';

/** One pass over all cluster Secrets: writes those that are missing or differ, and removes those that nothing needs. */
export class SecretsPass {
  readonly #options: PassOptions;
  readonly #input: ClusterSecretsInput;
  readonly #registered = new Map<string, string[]>();
  readonly #problems = new Map<string, string[]>();
  readonly #kept = new Map<string, string[]>();
  #mayWorkLater = false;

  constructor(options: PassOptions, input: ClusterSecretsInput) {
    this.#options = options;
    this.#input = input;
  }

  async run(): Promise<PassResult> {
    const { registrations, unwanted, problems, selected } = assignClusters(this.#input);
    for (const [key, sentences] of problems)
      for (const one of sentences) addSentence(this.#problems, key, one);
    const waiting = [...registrations];
    const worker = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await this.#register(one);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (unwanted.length > 0) await this.#remove(unwanted);
    const keys = [...this.#input.gitOpsClusters.map(({ key }) => key), ...this.#kept.keys()];
    const outcomes = new Map(
      keys.map((key): [string, RegistrationOutcome] => [
        key,
        {
          selected: selected.get(key),
          registered: this.#registered.get(key) ?? [],
          problems: (this.#problems.get(key) ?? []).sort(),
          kept: (this.#kept.get(key) ?? []).sort(),
        },
      ]),
    );
    return { outcomes, mayWorkLater: this.#mayWorkLater, isWaiting: this.#kept.size > 0 };
  }

  /** The failure of one cluster does not stop the others. */
  async #register(registration: Registration): Promise<void> {
    const { key } = registration.gitOpsCluster;
    const { name } = registration.cluster.metadata;
    try {
      const reading = await this.#options.credentials.read(registration);
      const step = planSecret(registration, reading, this.#input);
      if (step.kind === 'refuse') {
        // A token, a Secret or an address may appear, and another owner may delete its Secret.
        this.#mayWorkLater = true;
        addSentence(this.#problems, key, `cluster ${name}: ${step.why}`);
        return;
      }
      const { wanted, known } = step;
      if (known !== undefined) await this.#update(known, secretPatch(known, wanted, sha256), key);
      else if (!(await this.#create(newSecret(wanted, this.#options.argocdNamespace), key, name))) return;
      addSentence(this.#registered, key, name);
    } catch (error) {
      this.#mayWorkLater = true;
      // The cache was behind. Its next event starts another pass.
      if (error instanceof ConflictError && error.code !== 'kube.alreadyexists') return;
      addSentence(this.#problems, key, `cluster ${name}: ${errorText(error)}`);
    }
  }

  /** @returns whether it was created. If the cluster is going, its event starts the next pass. */
  async #create(secret: KubeObject, gitOpsCluster: string, cluster: string): Promise<boolean> {
    if (!(await confirmTakesWork(this.#options.hub, cluster))) return false;
    await this.#options.hub.create(SECRET, secret, { fieldManager: FIELD_MANAGER, metadataOnly: true });
    this.#emit('created', { name: secret.metadata.name, cluster, gitOpsCluster });
    return true;
  }

  async #update(
    { metadata, name: cluster }: KnownSecret,
    patch: object | undefined,
    gitOpsCluster: string,
  ): Promise<void> {
    if (patch === undefined) return;
    const { namespace = '', name } = metadata;
    const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
    await this.#options.hub.mergePatch(SECRET, { namespace, name }, patch, options);
    this.#emit('updated', { name, cluster, gitOpsCluster });
  }

  /** The Applications are read from the hub, not from the cache, because Secrets are deleted when no Application is found. */
  async #remove(unwanted: readonly KnownSecret[]): Promise<void> {
    const applications = await this.#applications();
    for (const secret of unwanted) {
      const { name, namespace = '', uid, resourceVersion } = secret.metadata;
      const gitOpsCluster = ownerOf(secret) ?? '';
      const keep = (why: string): void =>
        addSentence(
          this.#kept,
          gitOpsCluster,
          `cluster ${secret.name} is no longer selected, its Secret ${name} stays: ${why}`,
        );
      if (!Array.isArray(applications)) {
        keep(`Applications cannot be listed: ${errorText(applications)}`);
        continue;
      }
      const step = planRemoval(secret, applications as readonly KubeObject[]);
      if (step.kind === 'keep') {
        keep(
          `Applications use it: ${formatNameList(step.applications)}; annotate it with ${PRUNE_ANNOTATION}=enabled to remove it anyway`,
        );
        continue;
      }
      try {
        await this.#options.hub.delete(SECRET, { namespace, name }, { uid, resourceVersion });
        this.#emit('deleted', { name, cluster: secret.name, gitOpsCluster });
      } catch (error) {
        this.#mayWorkLater = true;
        if (!(error instanceof ConflictError)) keep(errorText(error));
      }
    }
  }

  async #applications(): Promise<readonly KubeObject[] | Error> {
    try {
      return (await this.#options.hub.list(APPLICATION)).items;
    } catch (error) {
      this.#mayWorkLater = true;
      return error instanceof Error ? error : new Error(errorText(error));
    }
  }

  #emit(
    action: SecretWritten['action'],
    { name, cluster, gitOpsCluster }: { name: string; cluster: string; gitOpsCluster: string },
  ): void {
    const secret = `${this.#options.argocdNamespace}/${name}`;
    this.#options.onWrite?.({ action, cluster, secret, gitOpsCluster });
  }
}

function addSentence(lists: Map<string, string[]>, key: string, sentence: string): void {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  list.push(sentence);
}
