// Runs controller-runtime's envtest on the embedded hub. KUBEBUILDER_ASSETS names the folder with the launchers.
package envtest_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

func start(t *testing.T) (*envtest.Environment, *rest.Config) {
	t.Helper()
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("testdata")},
		ErrorIfCRDPathMissing: true,
	}
	began := time.Now()
	config, err := environment.Start()
	if err != nil {
		t.Fatalf("envtest did not start: %v", err)
	}
	t.Logf("started in %v", time.Since(began))
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("envtest did not stop: %v", err)
		}
	})
	return environment, config
}

func thing(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(2)}}}
	object.SetGroupVersionKind(things)
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

func TestClientsAndControllers(t *testing.T) {
	environment, config := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	t.Run("the administrator reads and writes typed objects", func(t *testing.T) {
		clients := kubernetes.NewForConfigOrDie(config)
		data := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Data: map[string]string{"a": "b"}}
		if _, err := clients.CoreV1().ConfigMaps("default").Create(ctx, data, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		found, err := clients.CoreV1().ConfigMaps("default").Get(ctx, "one", metav1.GetOptions{})
		if err != nil || found.Data["a"] != "b" {
			t.Fatalf("got %v, %v", found, err)
		}
	})

	t.Run("a user has the rights that RBAC grants", func(t *testing.T) {
		user, err := environment.AddUser(envtest.User{Name: "alice", Groups: []string{"viewers"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		alice := kubernetes.NewForConfigOrDie(user.Config())
		if _, err := alice.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Fatalf("got %v, expected forbidden", err)
		}
		admin := kubernetes.NewForConfigOrDie(config)
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "viewers"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "viewers"}},
		}
		if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("a controller reconciles a custom resource", func(t *testing.T) {
		manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
		if err != nil {
			t.Fatal(err)
		}
		watched := &unstructured.Unstructured{}
		watched.SetGroupVersionKind(things)
		reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(things)
			if err := manager.GetClient().Get(ctx, request.NamespacedName, object); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if err := unstructured.SetNestedField(object.Object, "done", "status", "phase"); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, manager.GetClient().Status().Update(ctx, object)
		})
		if err := ctrl.NewControllerManagedBy(manager).Named("things").For(watched).Complete(reconciler); err != nil {
			t.Fatal(err)
		}
		go func() { _ = manager.Start(ctx) }()
		direct, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := direct.Create(ctx, thing("first")); err != nil {
			t.Fatal(err)
		}
		for {
			found := thing("first")
			if err := direct.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
				t.Fatal(err)
			}
			if phase, _, _ := unstructured.NestedString(found.Object, "status", "phase"); phase == "done" {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})

	t.Run("a definition validates", func(t *testing.T) {
		direct, err := client.New(config, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wrong := thing("wrong")
		_ = unstructured.SetNestedField(wrong.Object, int64(0), "spec", "size")
		if err := direct.Create(ctx, wrong); !apierrors.IsInvalid(err) {
			t.Fatalf("got %v, expected invalid", err)
		}
	})
}

func TestEnvironmentsBesideEachOther(t *testing.T) {
	_, one := start(t)
	_, other := start(t)
	names := metav1.ObjectMeta{Name: "here"}
	clients := kubernetes.NewForConfigOrDie(one)
	if _, err := clients.CoreV1().Namespaces().Create(
		context.Background(), &corev1.Namespace{ObjectMeta: names}, metav1.CreateOptions{},
	); err != nil {
		t.Fatal(err)
	}
	_, err := kubernetes.NewForConfigOrDie(other).CoreV1().Namespaces().Get(
		context.Background(), "here", metav1.GetOptions{},
	)
	if !apierrors.IsNotFound(err) {
		t.Fatalf("got %v, expected not found", err)
	}
}
