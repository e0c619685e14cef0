import type { KubeObject } from '@berth/kube/model/object-meta';
import { ApplicationGenerator } from '@berth/applicationset/generate-applications';
import type { JsonValue } from '@berth/applicationset/json/json-value';

/** How many Applications are kept after a plan. Each takes at most about two kilobytes. */
const MAX_APPLICATIONS = 25_000;

/** The ApplicationSets that were rendered, with the Applications that the next rendering finds again. */
export class RenderedSets {
  readonly #maxApplications: number;
  /** By ApplicationSet. The generator that was used last is at the end. */
  readonly #generators = new Map<KubeObject, ApplicationGenerator>();

  constructor(maxApplications = MAX_APPLICATIONS) {
    this.#maxApplications = maxApplications;
  }

  /** How many Applications are kept. */
  get applications(): number {
    return [...this.#generators.values()].reduce((sum, { kept }) => sum + kept, 0);
  }

  /**
   * @param set as Git or the hub has it: the same object means the same ApplicationSet
   * @param complete the object with the namespace that it has in the cluster
   * @throws NotRendered see `generateApplications`
   */
  generatorOf(set: KubeObject, complete: KubeObject): ApplicationGenerator {
    const generator = this.#generators.get(set) ?? new ApplicationGenerator(complete as unknown as JsonValue);
    this.#generators.delete(set);
    this.#generators.set(set, generator);
    return generator;
  }

  /** Called after a plan. Forgets the generators that were used the longest ago, so that few enough Applications stay. */
  settle(): void {
    let left = this.#maxApplications;
    for (const [set, { kept }] of [...this.#generators].reverse()) {
      // A generator without Applications takes memory as well.
      left -= kept + 1;
      if (left < 0) this.#generators.delete(set);
    }
  }
}
