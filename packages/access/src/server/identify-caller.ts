import { kind } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { sha256 } from '@berth/runtime/sha256';
import type { HubUser } from '../rules/cluster-identity.ts';

const TOKEN_REVIEW = kind('authentication.k8s.io', 'v1', 'TokenReview', 'Cluster');
/** As cluster-proxy keeps reviews. */
const KEPT_MS = 10_000;
const MOST_KEPT = 10_000;

/** Asks the hub whose token it is, and remembers the answer for ten seconds. Tokens are kept as hashes. */
export class Callers {
  readonly #hub: KubeApi;
  readonly #clock: Clock;
  readonly #known = new Map<
    string,
    { readonly untilMs: number; readonly user: Promise<HubUser | undefined> }
  >();

  constructor(hub: KubeApi, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
  }

  /**
   * @returns undefined if the token is none of the hub
   * @throws the errors of the API
   */
  identify(token: string): Promise<HubUser | undefined> {
    const key = sha256(token);
    const nowMs = this.#clock.now();
    const known = this.#known.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.user;
    this.#forget(nowMs);
    const user = this.#review(token);
    this.#known.set(key, { untilMs: nowMs + KEPT_MS, user });
    user.catch(() => this.#known.delete(key));
    return user;
  }

  async #review(token: string): Promise<HubUser | undefined> {
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: { name: '' },
      spec: { token },
    };
    const { status } = (await this.#hub.create(TOKEN_REVIEW, review)) as KubeObject & {
      readonly status?: { readonly authenticated?: boolean; readonly user?: HubUser };
    };
    return status?.authenticated === true && status.user?.username ? status.user : undefined;
  }

  /** Those that are over; and the oldest, when there are too many. */
  #forget(nowMs: number): void {
    for (const [key, { untilMs }] of this.#known) {
      if (untilMs > nowMs && this.#known.size < MOST_KEPT) return;
      this.#known.delete(key);
    }
  }
}
