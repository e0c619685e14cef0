import { TransientError } from '@berth/runtime/errors';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';

/** May be changed at any time. */
interface Faults {
  /** Of a request to fail; half of them before they reach the server, half after it (the answer is lost). */
  chance: number;
  readonly random: () => number;
}

/** A KubeApi whose writes and reads sometimes fail. Watches and discovery are left alone. */
export class FaultyKubeApi extends InterceptedKubeApi {
  readonly #faults: Faults;

  constructor(inner: KubeApi, faults: Faults) {
    super(inner);
    this.#faults = faults;
  }

  protected override read<T>(request: () => Promise<T>, right: string): Promise<T> {
    return right === '' ? request() : this.#send(request, right);
  }

  protected write<T>(request: () => Promise<T>, right: string): Promise<T> {
    return this.#send(request, right);
  }

  async #send<T>(request: () => Promise<T>, right: string): Promise<T> {
    const draw = this.#faults.random();
    if (draw < this.#faults.chance / 2) throw lost(right);
    const answer = await request();
    if (draw < this.#faults.chance) throw lost(right);
    return answer;
  }
}

function lost(right: string): TransientError {
  return new TransientError('the connection broke (injected)', { code: 'kube.network', subject: right });
}
