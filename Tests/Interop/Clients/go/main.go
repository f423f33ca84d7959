// Command watch shows the model client of watch.go.
//
//	watch ADDRESS ACCOUNT GROUP PRODUCT        PERCH_TOKEN has the credentials, if the server asks for some
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	pb "perch/v1"
)

func main() {
	log.SetFlags(0)
	rand.Seed(time.Now().UnixNano()) // Go does that itself from 1.20 on
	// PING notices a dead connection within 45 s. Follow makes the pauses, not the channel.
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure(), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: time.Second, MaxDelay: time.Second}}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 15 * time.Second}))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if token := os.Getenv("PERCH_TOKEN"); token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	account, group, product := os.Args[2], os.Args[3], os.Args[4]
	service := pb.NewEntitlementServiceClient(connection)
	shown := map[string]interface{}{"states": []string{}, "entitled": false}
	status := &Watch{Open: func(ctx context.Context, token []byte) (func() (State, error), error) {
		call, err := service.SubscriptionStatusTask(ctx, &pb.SubscriptionStatusTaskRequest{
			Account: account, GroupId: group, ResumeToken: token})
		return func() (State, error) { return call.Recv() }, err
	}, Show: func(m State) {
		states := []string{}
		for _, status := range m.(*pb.SubscriptionStatusTaskResponse).GetSuccess().Statuses {
			states = append(states, status.State.String())
		}
		shown["states"] = states
	}}
	entitlement := &Watch{Open: func(ctx context.Context, token []byte) (func() (State, error), error) {
		call, err := service.CurrentEntitlementTask(ctx, &pb.CurrentEntitlementTaskRequest{
			Account: account, ProductId: product, ResumeToken: token})
		return func() (State, error) { return call.Recv() }, err
	}, Show: func(m State) {
		shown["entitled"] = m.(*pb.CurrentEntitlementTaskResponse).GetSuccess().Transaction != nil
	}}
	log.Fatal(Follow(ctx, []*Watch{status, entitlement}, func() {
		line, _ := json.Marshal(shown)
		fmt.Println(string(line))
	}))
}
