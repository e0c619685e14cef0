import type { AgentIdentity } from '@berth/ocm/registration/agent-identity';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import { askForCluster, type ClusterAnswer } from './ask-for-cluster.ts';

export interface RegisteredClusterOptions {
  /** A client with the certificate of the agent. */
  readonly hub: KubeApi;
  readonly identity: AgentIdentity;
  readonly settings: RegistrationSettings;
  /**
   * Asks the hub with the bootstrap kubeconfig, which may read a cluster that is not accepted. `unknown` if its token has
   * expired.
   */
  readonly askWithBootstrap: () => Promise<ClusterAnswer>;
}

/** The number of answers in a row that count. A hub that restarts may refuse for a moment. */
const ANSWERS = 3;
/** The bootstrap kubeconfig is used once in this number of checks. */
const BOOTSTRAP_EVERY = 6;

/** What the hub knows of the cluster: whether it still has it, and whether it accepts the certificate. */
export class RegisteredCluster {
  readonly #options: RegisteredClusterOptions;
  #last: ClusterAnswer = 'unknown';
  /** The number of the same answers in a row. */
  #count = 0;
  #isGone = false;

  constructor(options: RegisteredClusterOptions) {
    this.#options = options;
  }

  /** Whether the hub does not know the certificate: it was installed again, or has revoked it. */
  get isRefused(): boolean {
    return this.#last === 'refused' && this.#count >= ANSWERS;
  }

  /** Whether the hub has deleted the cluster. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** @param watched what the watch of the cluster shows; undefined if it is not open */
  async check(watched: 'found' | 'missing' | undefined): Promise<void> {
    const { hub, identity } = this.#options;
    const answer = watched ?? (await askForCluster(hub, identity));
    this.#count = answer === this.#last ? this.#count + 1 : 1;
    this.#last = answer;
    if (answer === 'found') this.#isGone = false;
    if (this.#isGone || this.#count < ANSWERS) return;
    if (answer === 'missing') this.#noteGone();
    if (answer !== 'forbidden' || (this.#count - ANSWERS) % BOOTSTRAP_EVERY !== 0) return;
    if ((await this.#options.askWithBootstrap()) === 'missing') this.#noteGone();
  }

  /** The agent had read the cluster, and the watch says that it was deleted. */
  deleted(): void {
    if (!this.#isGone) this.#noteGone();
  }

  #noteGone(): void {
    const { identity, settings, hub } = this.#options;
    this.#isGone = true;
    settings.log.error('the hub has deleted this cluster: no works are applied, and none are removed', {
      cluster: identity.cluster,
      hub: hub.server,
      hint: REJOIN_HINT,
    });
  }
}

const REJOIN_HINT =
  'if that was a mistake, run berth join again with a token of the hub (berth get token): then berth accept accepts it';
