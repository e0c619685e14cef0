import { Callers, KeptAnswers } from '@berth/access/server/ask-hub';
import { type KindInfo, MANAGED_CLUSTER, PLACEMENT, SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { TransientError } from '@berth/runtime/errors';
import pLimit from 'p-limit';
import type { Sight } from '../../core/dashboard/sight.ts';

/** Somebody who looks at the dashboard, as the hub knows him. */
export interface Viewer {
  readonly username: string;
  readonly sight: Sight;
}

/** Without a name: of every object. Without a namespace: everywhere. */
export interface Right {
  readonly verb: string;
  readonly kind: KindInfo;
  readonly namespace?: string;
  readonly name?: string;
}

type HubUser = NonNullable<Awaited<ReturnType<Callers['identify']>>>;

/** Reviews of one viewer at the same time. */
const REVIEWS_AT_ONCE = 10;
/** Different tokens that are asked about at the same time; anybody can send some. */
const MAX_IDENTIFYING = 500;

/**
 * Asks the hub who has a token (TokenReview), and what he may see (SubjectAccessReview): the placements that he may `get`, and all
 * clusters if he may `list` them. Answers count for ten seconds.
 */
export class Viewers {
  readonly #hub: KubeApi;
  readonly #namespaces: () => Iterable<string>;
  readonly #callers: Callers;
  readonly #sights: KeptAnswers<Sight>;
  readonly #rights: KeptAnswers<boolean>;
  /** How many wait for the answer about a token. */
  readonly #waiting = new Map<string, number>();

  /** @param namespaces those that have placements */
  constructor(hub: KubeApi, clock: Clock, namespaces: () => Iterable<string>) {
    this.#hub = hub;
    this.#namespaces = namespaces;
    this.#callers = new Callers(hub, clock);
    this.#sights = new KeptAnswers(clock);
    this.#rights = new KeptAnswers(clock);
  }

  /**
   * @returns undefined if the token is none of the hub
   * @throws TransientError when too many ask, and the errors of the API
   */
  async identify(token: string): Promise<Viewer | undefined> {
    const own = this.#waiting.get(token) ?? 0;
    if (own === 0 && this.#waiting.size >= MAX_IDENTIFYING)
      throw new TransientError('too many people log in at the same time', {
        code: 'dashboard.busy',
        subject: 'Dashboard',
      });
    this.#waiting.set(token, own + 1);
    try {
      const user = await this.#callers.identify(token);
      if (user === undefined) return undefined;
      const sight = await this.#sights.get(JSON.stringify(user), () => this.#sightOf(user));
      return { username: user.username, sight };
    } finally {
      const left = (this.#waiting.get(token) ?? 1) - 1;
      if (left > 0) this.#waiting.set(token, left);
      else this.#waiting.delete(token);
    }
  }

  /**
   * @returns whether the owner of the token has the right; false if it is none of the hub
   * @throws as `identify`
   */
  async may(token: string, right: Right): Promise<boolean> {
    const user = await this.#callers.identify(token);
    if (user === undefined) return false;
    return this.#rights.get(JSON.stringify([user, right]), () => this.#may(user, right));
  }

  async #sightOf(user: HubUser): Promise<Sight> {
    const [allClusters, everywhere] = await Promise.all([
      this.#may(user, { verb: 'list', kind: MANAGED_CLUSTER }),
      this.#may(user, { verb: 'get', kind: PLACEMENT }),
    ]);
    if (everywhere) return { allClusters, namespaces: 'all' };
    const limit = pLimit(REVIEWS_AT_ONCE);
    const asked = [...new Set(this.#namespaces())].map((namespace) =>
      limit(async () => {
        const mayGet = await this.#may(user, { verb: 'get', kind: PLACEMENT, namespace });
        return mayGet ? [namespace] : [];
      }),
    );
    return { allClusters, namespaces: new Set((await Promise.all(asked)).flat()) };
  }

  async #may({ username, ...rest }: HubUser, { verb, kind, ...where }: Right): Promise<boolean> {
    const { group, plural: resource } = kind;
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: {
        ...{ user: username, ...rest },
        resourceAttributes: { verb, group, resource, ...where },
      },
    };
    const { status } = (await this.#hub.create(SUBJECT_ACCESS_REVIEW, review)) as KubeObject & {
      readonly status?: { readonly allowed?: boolean };
    };
    return status?.allowed === true;
  }
}
