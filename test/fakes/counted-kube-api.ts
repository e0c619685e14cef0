import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';

/** A KubeApi that counts requests; watches do not count. */
export class CountedKubeApi extends InterceptedKubeApi {
  #underWay = 0;
  #begun = 0;

  get underWay(): number {
    return this.#underWay;
  }

  /** Ended ones too. */
  get begun(): number {
    return this.#begun;
  }

  protected override read<T>(request: () => Promise<T>): Promise<T> {
    return this.#count(request);
  }

  protected write<T>(request: () => Promise<T>): Promise<T> {
    return this.#count(request);
  }

  async #count<T>(request: () => Promise<T>): Promise<T> {
    this.#begun += 1;
    this.#underWay += 1;
    try {
      return await request();
    } finally {
      this.#underWay -= 1;
    }
  }
}
