export interface StoredDeploymentStatus {
  readonly id: number;
  readonly state: string;
  readonly description: string;
  readonly logUrl: string | null;
  readonly environmentUrl: string | null;
  readonly creator: string;
  readonly createdAt: Date;
}

export interface StoredDeployment {
  readonly id: number;
  readonly sha: string;
  readonly ref: string;
  readonly environment: string;
  readonly task: string;
  readonly payload: unknown;
  readonly creator: string;
  readonly transientEnvironment: boolean;
  readonly productionEnvironment: boolean;
  readonly createdAt: Date;
  /** The newest first. */
  readonly statuses: StoredDeploymentStatus[];
}

type NewDeployment = Omit<StoredDeployment, 'id' | 'createdAt' | 'statuses'>;
type NewStatus = Omit<StoredDeploymentStatus, 'id' | 'createdAt'>;

/** Its newest state; `pending` before the first. */
export const getDeploymentState = ({ statuses }: StoredDeployment): string => statuses[0]?.state ?? 'pending';

/** The deployments of one repository, apart from those of its Pages site. */
export class DeploymentStore {
  /** The newest first. */
  readonly all: StoredDeployment[] = [];
  readonly #nextId: () => number;

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  add(spec: NewDeployment): StoredDeployment {
    const deployment = { ...spec, id: this.#nextId(), createdAt: new Date(), statuses: [] };
    this.all.unshift(deployment);
    return deployment;
  }

  addStatus({ statuses }: StoredDeployment, spec: NewStatus): StoredDeploymentStatus {
    const status = { ...spec, id: this.#nextId(), createdAt: new Date() };
    statuses.unshift(status);
    return status;
  }

  /** GitHub's default after a success. Unlike this, GitHub spares transient and production environments. */
  endOthers(successful: StoredDeployment, creator: string): void {
    const others = this.all.filter(
      (one) => one !== successful && isSameEnvironment(one, successful.environment),
    );
    const status = { state: 'inactive', description: '', logUrl: null, environmentUrl: null, creator };
    for (const one of others) if (getDeploymentState(one) === 'success') this.addStatus(one, status);
  }
}

/** Names of environments do not differ by case. */
export const isSameEnvironment = (one: Pick<StoredDeployment, 'environment'>, name: string): boolean =>
  one.environment.toLowerCase() === name.toLowerCase();
